package dev.lockstep.server.api;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Tracks requests that wait for an answer. While the database is in trouble, none waits long: each
 * gets the trouble as its answer, while its work goes on or fails. Thread-safe.
 */
final class Unanswered {
  /** With the time to notice trouble, an answer takes at most three seconds. */
  private static final Duration LONGEST_WAIT = Duration.ofMillis(1_500);

  private static final long LOOK_EVERY_MS = 250;

  /** For a database known to be gone: enough time for an answer from memory. */
  private static final Duration SHORTEST_WAIT = Duration.ofMillis(100);

  private record Waiting(Promise<?> promise, Context context, long untilNanos) {}

  private final Supplier<Optional<Trouble>> trouble;
  private final Set<Waiting> waiting = ConcurrentHashMap.newKeySet();

  Unanswered(Supplier<Optional<Trouble>> trouble) {
    this.trouble = trouble;
  }

  /** Checks periodically until Vert.x is closed. */
  void start(Vertx vertx) {
    vertx.setPeriodic(LOOK_EVERY_MS, timer -> trouble.get().ifPresent(this::answerWaiting));
  }

  /** Returns the answer, or the trouble that delays it. Call it on the request's event loop. */
  <T> Future<T> orTrouble(Vertx vertx, Future<T> answer) {
    if (answer.isComplete()) {
      return answer;
    }
    Promise<T> first = Promise.promise();
    boolean gone = trouble.get().filter(Trouble.GONE::equals).isPresent();
    long until = System.nanoTime() + (gone ? SHORTEST_WAIT : LONGEST_WAIT).toNanos();
    Waiting entry = new Waiting(first, vertx.getOrCreateContext(), until);
    waiting.add(entry);
    answer.onComplete(
        done -> {
          waiting.remove(entry);
          if (done.succeeded()) {
            first.tryComplete(done.result());
          } else {
            first.tryFail(done.cause());
          }
        });
    return first.future();
  }

  /** Replaces "unavailable" by the name of the trouble, if it is known. */
  Problem named(Problem problem) {
    return problem.slug().equals(Trouble.SLUG)
        ? trouble.get().map(Trouble::problem).orElse(problem)
        : problem;
  }

  private void answerWaiting(Trouble found) {
    long now = System.nanoTime();
    waiting.stream()
        .filter(entry -> now - entry.untilNanos() > 0)
        .forEach(
            entry ->
                entry
                    .context()
                    .runOnContext(
                        unused -> entry.promise().tryFail(found.problemOfWaiting().asException())));
  }
}
