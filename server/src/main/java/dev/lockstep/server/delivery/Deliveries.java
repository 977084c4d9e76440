package dev.lockstep.server.delivery;

import static io.vertx.core.http.HttpMethod.GET;

import dev.lockstep.job.JobContext;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.Outcome;
import dev.lockstep.job.QueueConfig;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.delivery.DeliveryListener.Ending;
import dev.lockstep.server.job.Duties;
import dev.lockstep.server.key.Secret;
import dev.lockstep.server.outgoing.OutgoingHttp;
import dev.lockstep.server.outgoing.PostResult;
import dev.lockstep.server.outgoing.PostResult.Answered;
import dev.lockstep.server.outgoing.PostResult.Failed;
import dev.lockstep.server.outgoing.PostResult.Refused;
import dev.lockstep.server.outgoing.Target;
import dev.lockstep.tx.Transactor;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;

/**
 * Delivers to webhooks, by jobs of the queue {@link #QUEUE}. A delivery is done when the receiver
 * answers with a 2xx; dead at once when it answers 410 or may not be sent to; else tried again, by
 * the queue's backoff or when the receiver says, until its attempts are used up. Thread-safe.
 */
public final class Deliveries {
  public static final String QUEUE = "webhooks";
  public static final String KIND = "webhook";

  /** The longest that a receiver can put off the next attempt. */
  public static final Duration MAX_RETRY_AFTER = Duration.ofHours(1);

  private static final int CONCURRENCY = 32;
  private static final int GONE = 410;

  private final OutgoingHttp http;
  private final ReceiverSecrets secrets;
  private final QueueConfig queue;
  private final String userAgent;
  private final DeliveryListener listener;

  /**
   * Reads or makes the secret that receivers' secrets come from. Blocks.
   *
   * @param configured secrets of the configuration, the newest first; empty: the database's
   * @param firstBackoff longest wait after the first failure; doubles with each
   */
  public Deliveries(
      Transactor transactor,
      OutgoingHttp http,
      List<Secret> configured,
      Duration firstBackoff,
      String userAgent,
      DeliveryListener listener) {
    this.http = http;
    this.secrets = ReceiverSecrets.open(transactor, configured);
    QueueConfig defaults = QueueConfig.of(QUEUE, CONCURRENCY);
    this.queue = defaults.withBackoff(firstBackoff, defaults.maxBackoff());
    this.userAgent = userAgent;
    this.listener = listener;
  }

  public Duties duties() {
    return Duties.none().serving(queue).on(KIND, Delivery::read, this::deliver);
  }

  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.of(
                GET,
                "/v1/webhooks/secret",
                "Shows what deliveries to a receiver are signed with, for its configuration.")
            .by(Role.OPERATOR)
            .withQuery("url", "Any URL of the receiver; scheme, host and port count.")
            .answering(
                200,
                Shape.object()
                    .required("receiver", Shape.text(1, Target.MAX_LENGTH))
                    .required("secret", Shape.text(1, 100)))
            .handledBy(this::showSecret));
  }

  /** The job that delivers. */
  public NewJob job(Delivery delivery, int maxAttempts) {
    return NewJob.of(QUEUE, KIND, delivery.payload()).withMaxAttempts(maxAttempts);
  }

  /** The job of one occurrence of a schedule, made from the schedule's. */
  public static NewJob occurrence(NewJob job, Instant at) {
    return job.kind().equals(KIND)
        ? NewJob.of(QUEUE, KIND, of(job).dueAt(at).payload()).withMaxAttempts(job.maxAttempts())
        : job;
  }

  /** What a job that {@link #job} made delivers. */
  public static Delivery of(NewJob job) {
    return Delivery.read(job.payload());
  }

  /** The signature of what is sent to a receiver now, as the header {@code Lockstep-Signature}. */
  public String sign(Target receiver, byte[] body) {
    return Signature.of(body, secrets.of(receiver), Instant.now());
  }

  /**
   * Refuses a URL that is known to be none to deliver to.
   *
   * @param field where it stands in the request
   */
  public void requireTarget(String field, String url) {
    target(field, url);
  }

  private Target target(String field, String url) {
    try {
      return http.target(url);
    } catch (IllegalArgumentException e) {
      throw Problem.invalid(field, String.valueOf(e.getMessage())).asException();
    }
  }

  private Future<Answer> showSecret(Request request) {
    String url =
        request.query("url").orElseThrow(() -> Problem.invalid("url", "is missing").asException());
    Target receiver = target("url", url);
    return Future.succeededFuture(
        Answer.ok(
                new JsonObject()
                    .put("receiver", receiver.origin())
                    .put("secret", secrets.of(receiver).get(0)))
            .withHeader("Cache-Control", "no-store"));
  }

  private Outcome deliver(Delivery delivery, JobContext job) throws InterruptedException {
    Target target;
    try {
      // Again: what was allowed when it was made may not be any more.
      target = http.target(delivery.webhook());
    } catch (IllegalArgumentException e) {
      listener.onAttempt(Ending.REFUSED, Duration.ZERO);
      return new Outcome.Dead("The URL " + e.getMessage());
    }
    if (!job.holdsLease()) {
      // Somebody else has it by now; this result would be refused, but a request would be sent.
      return new Outcome.Snooze(Duration.ZERO);
    }
    byte[] body = delivery.body().getBytes(StandardCharsets.UTF_8);
    long begun = System.nanoTime();
    PostResult result = post(target, headers(delivery, job, target, body), body);
    listener.onAttempt(ending(result), Duration.ofNanos(System.nanoTime() - begun));
    return outcome(result);
  }

  private PostResult post(Target target, Map<String, String> headers, byte[] body)
      throws InterruptedException {
    try {
      return http.post(target, headers, body).toCompletableFuture().get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("A request failed that never does", e);
    }
  }

  /** Signed anew each time: receivers refuse old signatures. */
  private Map<String, String> headers(
      Delivery delivery, JobContext job, Target target, byte[] body) {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Content-Type", "application/json");
    headers.put("User-Agent", userAgent);
    headers.put("Lockstep-Delivery", job.id().toString());
    headers.put("Lockstep-Attempt", Integer.toString(job.attempt()));
    headers.put("Lockstep-Schedule", delivery.schedule());
    headers.put("Lockstep-Due", delivery.dueAt().orElse(job.due()).toString());
    headers.put(Signature.HEADER, sign(target, body));
    return headers;
  }

  private static Ending ending(PostResult result) {
    if (result instanceof Answered answered) {
      return answered.isSuccess() ? Ending.DELIVERED : Ending.REJECTED;
    }
    return result instanceof Refused ? Ending.REFUSED : Ending.FAILED;
  }

  private static Outcome outcome(PostResult result) {
    if (result instanceof Refused refused) {
      return new Outcome.Dead("Not sent: " + refused.reason());
    }
    if (result instanceof Failed failed) {
      return new Outcome.Retry(failed.reason());
    }
    Answered answered = (Answered) result;
    if (answered.isSuccess()) {
      return Outcome.done();
    }
    String error = "Answered " + answered.status();
    if (!answered.body().isEmpty()) {
      error += ": " + answered.body();
    }
    return answered.status() == GONE
        ? new Outcome.Dead(error)
        : new Outcome.Retry(error, answered.retryAfter().flatMap(Deliveries::bounded));
  }

  /** No longer than an hour; "at once" is left to the backoff. */
  private static Optional<Duration> bounded(Duration wanted) {
    if (wanted.isZero()) {
      return Optional.empty();
    }
    return Optional.of(wanted.compareTo(MAX_RETRY_AFTER) > 0 ? MAX_RETRY_AFTER : wanted);
  }
}
