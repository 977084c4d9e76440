package dev.lockstep.server.lab;

import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.lab.Lab;
import dev.lockstep.lab.LabConfig;
import dev.lockstep.lab.LabUnavailable;
import dev.lockstep.lab.Level;
import dev.lockstep.lab.Scenario;
import dev.lockstep.lab.Variant;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Principal;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.ProblemException;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.rate.Allowance;
import dev.lockstep.server.rate.Rate;
import dev.lockstep.server.rate.TokenBuckets;
import dev.lockstep.tx.Isolation;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Plays scenarios one at a time on a dedicated thread, so that neither the event loop nor the
 * workers wait for it. Further requests are refused when too many wait. Thread-safe.
 */
public final class LabRuns implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LabRuns.class);

  /**
   * A run takes some tens of milliseconds, so everybody admitted is answered within about a second.
   */
  static final int MAX_WAITING = 16;

  private static final long CLOSE_TIMEOUT_SECONDS = 5;

  private static final Shape BODY =
      Shape.object()
          .optional("isolation", Shape.text(1, 32))
          .optional("variant", Shape.choice("naive", "lockstep"));

  private final Vertx vertx;
  private final Optional<Lab> lab;
  private final boolean visitors;
  private final TokenBuckets rates;
  private final ThreadPoolExecutor runner;

  /**
   * Opens nothing; the first run does.
   *
   * @param config where the lab creates its database; empty if the lab is off
   * @param visitors whether people without a key may play
   * @param rate how often, per key, else per address
   * @param nanoTime the clock of the rate
   */
  public LabRuns(
      Vertx vertx, Optional<LabConfig> config, boolean visitors, Rate rate, LongSupplier nanoTime) {
    this.vertx = vertx;
    this.rates = new TokenBuckets("lab", rate, nanoTime);
    this.lab = config.map(Lab::new);
    this.visitors = visitors;
    this.runner =
        new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MAX_WAITING),
            work -> new Thread(work, "lockstep-lab"));
  }

  public List<Endpoint> endpoints() {
    Endpoint runs =
        Endpoint.of(
                POST,
                "/v1/lab/scenarios/{id}/runs",
                "Plays a scenario: the timeline of its sessions, and the verdict. Isolation is"
                    + " read-committed (the default), repeatable-read or serializable.")
            .perhapsTaking(BODY)
            .answering(200, LabJson.TIMELINE)
            .handledBy(this::run);
    return List.of(
        Endpoint.of(GET, "/v1/lab/scenarios", "Lists the scenarios of the concurrency lab.")
            .answering(200, LabJson.CATALOGUE)
            .handledBy(
                request -> Future.succeededFuture(Answer.ok(LabJson.catalogue(lab.isPresent())))),
        visitors ? runs : runs.by(Role.OPERATOR, Role.SERVICE, Role.BUYER));
  }

  @Override
  public void close() {
    runner.shutdownNow();
    try {
      if (!runner.awaitTermination(CLOSE_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        return; // A run that cannot be stopped; its database is removed by the next lab.
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    lab.ifPresent(Lab::close);
  }

  private Future<Answer> run(Request request) {
    if (request.caller().isEmpty() && request.foreign()) {
      throw Problem.forbidden("Without a key, only the lab's own pages may play.").asException();
    }
    Scenario scenario =
        Lab.scenario(request.path("id"))
            .orElseThrow(() -> Problem.notFound("such scenario").asException());
    Isolation isolation = isolation(request.body().getString("isolation", "read-committed"));
    Variant variant = Variant.of(request.body().getString("variant", "naive")).orElseThrow();
    Lab open = lab.orElseThrow(LabRuns::off);
    Allowance allowance =
        rates.take(
            request
                .caller()
                .filter(who -> !who.visitor())
                .map(Principal::keyId)
                .orElseGet(request.from()::network));
    if (!allowance.granted()) {
      throw Problem.rateLimited(allowance, "You have played too many scenarios; try again later.")
          .asException();
    }
    allowance.tell(request.raw().response());
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    try {
      runner.execute(() -> play(open, scenario, isolation, variant, answer));
    } catch (RejectedExecutionException e) {
      throw Problem.overloaded(Duration.ofSeconds(1)).asException();
    }
    return Future.fromCompletionStage(answer, vertx.getOrCreateContext());
  }

  private static void play(
      Lab lab,
      Scenario scenario,
      Isolation isolation,
      Variant variant,
      CompletableFuture<Answer> answer) {
    try {
      answer.complete(Answer.ok(LabJson.timeline(lab.run(scenario, isolation, variant))));
    } catch (LabUnavailable e) {
      log.warn("The lab cannot play: {}", e.getMessage());
      answer.completeExceptionally(
          Problem.of("lab-unavailable", 503, "Lab unavailable", sentence(e))
              .retryAfter(Duration.ofSeconds(5))
              .asException());
    } catch (RuntimeException | Error e) {
      answer.completeExceptionally(e);
    }
  }

  private static String sentence(LabUnavailable e) {
    String message = String.valueOf(e.getMessage());
    return Character.toUpperCase(message.charAt(0)) + message.substring(1) + ".";
  }

  private static Isolation isolation(String text) {
    return Level.of(text)
        .orElseThrow(
            () ->
                Problem.invalid(
                        "isolation", "must be read-committed, repeatable-read or serializable")
                    .asException());
  }

  private static ProblemException off() {
    return Problem.of(
            "lab-off",
            403,
            "The lab is off",
            "Where the database is your own, the lab runs only if the server is started with"
                + " LOCKSTEP_LAB=true.")
        .asException();
  }
}
