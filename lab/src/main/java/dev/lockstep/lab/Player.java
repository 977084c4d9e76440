package dev.lockstep.lab;

import dev.lockstep.lab.Observer.Wait;
import dev.lockstep.lab.ScriptStep.Kind;
import dev.lockstep.tx.Isolation;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Plays one script. A step is sent only when every session has finished its step or is proved to
 * wait for another session of the run; so nothing can happen outside the script. One thread
 * conducts; each session has its own.
 */
final class Player {
  /** For a whole run. A script that takes this long has met a server in trouble. */
  private static final Duration RUN_TIMEOUT = Duration.ofSeconds(30);

  /** Between checks of a session that is neither done nor known to wait. */
  private static final long LOOK_INTERVAL_MS = 1;

  private final Observer observer;
  private final Isolation isolation;
  private final List<Actor> actors = new ArrayList<>();
  private final Observations seen = new Observations();
  private final List<PlayedStep> played = new ArrayList<>();
  private final long beganNanos = System.nanoTime();

  Player(Observer observer, List<LabSession> sessions, Script script, Isolation isolation) {
    this.observer = observer;
    this.isolation = isolation;
    for (int i = 0; i < script.sessions().size(); i++) {
      actors.add(new Actor(script.sessions().get(i), sessions.get(i)));
    }
  }

  private record Ended(Outcome outcome, long finishedUs) {}

  /** A step that was sent. */
  private static final class Sent {
    final ScriptStep step;
    final String sql;
    final List<Object> parameters;
    final long startedUs;
    final CompletableFuture<Ended> ended;
    OptionalLong blockedUs = OptionalLong.empty();
    List<String> blockedBy = List.of();
    Optional<String> lock = Optional.empty();

    Sent(
        ScriptStep step,
        String sql,
        List<Object> parameters,
        long startedUs,
        CompletableFuture<Ended> ended) {
      this.step = step;
      this.sql = sql;
      this.parameters = parameters;
      this.startedUs = startedUs;
      this.ended = ended;
    }
  }

  /** A session's part in the run. */
  private static final class Actor {
    final String name;
    final LabSession session;
    final Deque<ScriptStep> waiting = new ArrayDeque<>();
    @Nullable Sent sent;
    boolean inTransaction;
    boolean failed;

    Actor(String name, LabSession session) {
      this.name = name;
      this.session = session;
    }
  }

  /** Plays to the end; returns the steps by number. */
  List<PlayedStep> play(List<ScriptStep> steps) throws SQLException, InterruptedException {
    for (ScriptStep step : steps) {
      actor(step.session()).waiting.add(step);
      advance();
    }
    while (actors.stream().anyMatch(actor -> actor.sent != null)) {
      awaitAny();
      advance();
    }
    played.sort(Comparator.comparingInt(PlayedStep::number));
    return played;
  }

  Observations seen() {
    return seen;
  }

  long elapsedUs() {
    return (System.nanoTime() - beganNanos) / 1_000;
  }

  /** Sends what can be sent, lowest number first, until no session is free or nothing is left. */
  private void advance() throws SQLException, InterruptedException {
    while (true) {
      for (Actor actor : actors) {
        settle(actor);
      }
      Optional<Actor> next =
          actors.stream()
              .filter(actor -> actor.sent == null && !actor.waiting.isEmpty())
              .min(Comparator.comparingInt(actor -> actor.waiting.getFirst().number()));
      if (next.isEmpty()) {
        return;
      }
      send(next.get(), next.get().waiting.removeFirst());
    }
  }

  private void send(Actor actor, ScriptStep step) {
    boolean ends = step.kind() == Kind.COMMIT || step.kind() == Kind.ROLLBACK;
    if (actor.failed && !ends && step.kind() != Kind.RECOVER) {
      skip(actor, step, "the transaction has failed");
    } else if (!step.condition().test(seen)) {
      skip(actor, step, step.otherwise());
    } else {
      // A program whose transaction has failed must roll back.
      boolean instead = actor.failed && step.kind() == Kind.COMMIT;
      String sql =
          step.kind() == Kind.BEGIN && step.text().endsWith(" ")
              ? step.text() + Level.sql(isolation)
              : instead ? "ROLLBACK" : step.text();
      List<Object> parameters = step.parameters().apply(seen);
      actor.sent =
          new Sent(
              step,
              sql,
              parameters,
              elapsedUs(),
              actor.session.submit(() -> perform(actor.session, step, sql, parameters)));
    }
  }

  /** Runs on the session's thread. */
  private Ended perform(LabSession session, ScriptStep step, String sql, List<Object> parameters)
      throws SQLException {
    Outcome outcome =
        step.kind() == Kind.CODE
            ? session.code(step.code(), isolation)
            : session.send(sql, parameters);
    Ended ended = new Ended(outcome, elapsedUs());
    switch (step.kind()) {
      case BEGIN -> session.inTransaction(true);
      case COMMIT, ROLLBACK -> session.inTransaction(false);
      default -> {}
    }
    return ended;
  }

  private void skip(Actor actor, ScriptStep step, String why) {
    long now = elapsedUs();
    Ended ended = new Ended(new Outcome.Skipped(why), now);
    CompletableFuture<Ended> done = CompletableFuture.completedFuture(ended);
    record(actor, new Sent(step, step.text(), List.of(), now, done), ended);
  }

  /** Waits until the session has finished its step, or is proved to wait for another. */
  private void settle(Actor actor) throws SQLException, InterruptedException {
    Sent sent = actor.sent;
    while (sent != null) {
      // Most steps finish sooner, which saves a query.
      await(sent.ended, LOOK_INTERVAL_MS);
      if (sent.ended.isDone()) {
        finish(actor, sent);
        return;
      }
      Wait wait = observer.waitOf(actor.session.pid());
      List<String> blockers = named(wait.pids());
      if (!blockers.isEmpty()) {
        if (sent.blockedUs.isEmpty()) {
          sent.blockedUs = OptionalLong.of(elapsedUs());
          sent.lock = wait.lock();
        }
        sent.blockedBy = blockers;
        return;
      }
      checkTime();
    }
  }

  /**
   * All sessions wait or are done: the next event comes from the server, the end of a deadlock for
   * example.
   */
  private void awaitAny() throws InterruptedException {
    CompletableFuture<?>[] open =
        actors.stream()
            .map(actor -> actor.sent)
            .filter(sent -> sent != null)
            .map(sent -> sent.ended)
            .toArray(CompletableFuture[]::new);
    await(CompletableFuture.anyOf(open), RUN_TIMEOUT.toMillis());
    checkTime();
  }

  private void finish(Actor actor, Sent sent) throws InterruptedException {
    Ended ended;
    try {
      ended = sent.ended.get();
    } catch (ExecutionException e) {
      throw new LabUnavailable("a session of the lab failed; run it again", e);
    }
    actor.sent = null;
    boolean good = !(ended.outcome() instanceof Outcome.Failed);
    switch (sent.step.kind()) {
      case BEGIN -> {
        actor.inTransaction = good;
        actor.failed = false;
      }
      case COMMIT, ROLLBACK -> {
        seen.ended(actor.name, good && sent.sql.equals("COMMIT"));
        actor.inTransaction = false;
        actor.failed = false;
      }
      case RECOVER -> actor.failed = !good;
      default -> actor.failed = actor.inTransaction && !good;
    }
    record(actor, sent, ended);
  }

  private void record(Actor actor, Sent sent, Ended ended) {
    PlayedStep done =
        new PlayedStep(
            sent.step.number(),
            actor.name,
            sent.sql,
            sent.parameters.stream().map(String::valueOf).toList(),
            sent.step.note(),
            sent.startedUs,
            sent.blockedUs,
            ended.finishedUs(),
            sent.blockedBy,
            sent.lock,
            ended.outcome());
    played.add(done);
    seen.add(done, sent.step.name());
  }

  /** Sessions of this run only: a stranger's lock proves nothing about the script. */
  private List<String> named(List<Integer> pids) {
    return actors.stream()
        .filter(actor -> pids.contains(actor.session.pid()))
        .map(actor -> actor.name)
        .toList();
  }

  private static void await(CompletableFuture<?> future, long timeoutMs)
      throws InterruptedException {
    try {
      future.get(timeoutMs, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      // The caller checks again until the run's time is up.
    } catch (ExecutionException e) {
      // Reported in finish().
    }
  }

  private void checkTime() {
    if (elapsedUs() > TimeUnit.MILLISECONDS.toMicros(RUN_TIMEOUT.toMillis())) {
      throw new LabUnavailable("the run took longer than " + RUN_TIMEOUT.toSeconds() + " s");
    }
  }

  private Actor actor(String name) {
    return actors.stream().filter(actor -> actor.name.equals(name)).findFirst().orElseThrow();
  }
}
