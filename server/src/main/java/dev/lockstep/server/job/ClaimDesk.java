package dev.lockstep.server.job;

import dev.lockstep.job.ClaimAsk;
import dev.lockstep.job.ClaimToken;
import dev.lockstep.job.ClaimedJob;
import dev.lockstep.job.Claims;
import dev.lockstep.server.api.InFlight;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Workers;
import dev.lockstep.sql.HintListener;
import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where callers of this node wait for jobs to claim. Whoever waits is an entry in a list: no thread
 * and no connection. Per queue one transaction at a time asks for all who wait, the first first;
 * then nobody asks until a hint comes, the next job is due, a lease ends, or a second has passed.
 *
 * <p>Everything but {@link #claim} and {@link #close} happens on one event loop, without a lock.
 */
final class ClaimDesk implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ClaimDesk.class);

  private static final long POLL_MS = 1_000;

  /** Hints come for every job of every queue: one that got nothing asks no sooner than this. */
  private static final long SHORTEST_MS = 20;

  private static final long DRAIN_LOOK_MS = 250;

  private final Vertx vertx;
  private final Context loop;
  private final Workers workers;
  private final Claims claims;
  private final InFlight inFlight;
  private final int maxWaiting;
  private final HintListener hints;
  private final Map<String, Line> lines = new HashMap<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private final long drainTimer;

  /**
   * @param maxWaiting on this node, over all queues
   * @param listen gives a connection of its own for notifications; empty: it polls
   */
  ClaimDesk(
      Vertx vertx,
      Workers workers,
      Claims claims,
      InFlight inFlight,
      int maxWaiting,
      Optional<DataSource> listen) {
    this.vertx = vertx;
    this.loop = vertx.getOrCreateContext();
    this.workers = workers;
    this.claims = claims;
    this.inFlight = inFlight;
    this.maxWaiting = maxWaiting;
    this.hints = claims.hints(listen, () -> loop.runOnContext(unused -> hinted()));
    this.drainTimer = vertx.setPeriodic(DRAIN_LOOK_MS, timer -> loop.runOnContext(u -> drain()));
    hints.start();
  }

  /** Those who wait for one queue. */
  private static final class Line {
    final String queue;
    final List<Waiter> waiters = new ArrayList<>();
    boolean asking;
    boolean hinted;
    long askedNanos = System.nanoTime() - SHORTEST_MS * 1_000_000;
    long timer = -1;

    Line(String queue) {
      this.queue = queue;
    }
  }

  private record Waiter(
      ClaimAsk ask,
      long deadlineNanos,
      BooleanSupplier gone,
      Promise<List<ClaimedJob>> promise,
      Context context) {
    boolean isDue(long nowNanos) {
      return deadlineNanos - nowNanos <= 0;
    }
  }

  /**
   * Jobs of the queue, as soon as there are some; none when the time is up.
   *
   * @param gone whether nobody is there any more to hear the answer
   */
  Future<List<ClaimedJob>> claim(String queue, ClaimAsk ask, Duration wait, BooleanSupplier gone) {
    if (waiting.incrementAndGet() > maxWaiting) {
      waiting.decrementAndGet();
      return Future.failedFuture(Problem.overloaded(Duration.ofSeconds(1)).asException());
    }
    Promise<List<ClaimedJob>> promise = Promise.promise();
    Waiter waiter =
        new Waiter(
            ask, System.nanoTime() + wait.toNanos(), gone, promise, vertx.getOrCreateContext());
    loop.runOnContext(
        unused -> {
          Line line = lines.computeIfAbsent(queue, Line::new);
          line.waiters.add(waiter);
          look(line);
        });
    return promise.future();
  }

  /** How many wait now. */
  int waiting() {
    return waiting.get();
  }

  private void hinted() {
    long now = System.nanoTime();
    for (Line line : List.copyOf(lines.values())) {
      long sinceMs = (now - line.askedNanos) / 1_000_000;
      if (line.asking || sinceMs >= SHORTEST_MS) {
        look(line);
      } else {
        cancelTimer(line);
        lookIn(line, SHORTEST_MS - sinceMs, now);
      }
    }
  }

  private void look(Line line) {
    if (line.asking) {
      line.hinted = true;
      return;
    }
    cancelTimer(line);
    line.waiters.removeIf(this::isGone);
    List<Waiter> batch = new ArrayList<>();
    int jobs = 0;
    for (Waiter waiter : line.waiters) {
      jobs += waiter.ask().max();
      if (jobs > Claims.MAX_BATCH) {
        break;
      }
      batch.add(waiter);
    }
    if (batch.isEmpty()) {
      lines.remove(line.queue);
      return;
    }
    line.asking = true;
    line.hinted = false;
    List<ClaimAsk> asks = batch.stream().map(Waiter::ask).toList();
    workers
        .run(() -> claims.claim(line.queue, asks))
        .onComplete(taken -> loop.runOnContext(unused -> took(line, batch, taken)));
  }

  private void took(Line line, List<Waiter> batch, AsyncResult<Claims.Taken> taken) {
    line.asking = false;
    line.askedNanos = System.nanoTime();
    if (taken.failed() || taken.result().served()) {
      Throwable cause = taken.failed() ? taken.cause() : WorkQueues.reserved(line.queue);
      line.waiters.removeAll(batch);
      batch.forEach(waiter -> fail(waiter, cause));
      look(line);
      return;
    }
    boolean allServed = hand(line, batch, taken.result().jobs());
    long now = System.nanoTime();
    List<Waiter> late = line.waiters.stream().filter(one -> one.isDue(now)).toList();
    // Whoever was not asked for yet is, once, however short its time.
    late.stream().filter(batch::contains).forEach(waiter -> answer(waiter, List.of()));
    line.waiters.removeIf(waiter -> waiter.isDue(now) && batch.contains(waiter));
    if (line.waiters.isEmpty()) {
      lines.remove(line.queue);
    } else if (allServed || line.waiters.stream().anyMatch(waiter -> waiter.isDue(now))) {
      look(line);
    } else {
      long next = line.hinted ? 0 : taken.result().nextMs().orElse(POLL_MS);
      lookIn(line, Math.max(SHORTEST_MS, next), now);
    }
  }

  /** True: each got something, so there may be more. */
  private boolean hand(Line line, List<Waiter> batch, List<List<ClaimedJob>> jobs) {
    List<ClaimToken> unheard = new ArrayList<>();
    boolean allServed = true;
    for (int i = 0; i < batch.size(); i++) {
      Waiter waiter = batch.get(i);
      List<ClaimedJob> given = jobs.get(i);
      if (given.isEmpty()) {
        allServed = false;
      } else {
        line.waiters.remove(waiter);
        if (waiter.gone().getAsBoolean()) {
          given.forEach(job -> unheard.add(job.token()));
        }
        answer(waiter, given);
      }
    }
    giveBack(unheard);
    return allServed;
  }

  private void giveBack(List<ClaimToken> unheard) {
    if (!unheard.isEmpty()) {
      workers
          .run(
              () -> {
                claims.giveBack(unheard);
                return true;
              })
          .onFailure(
              thrown ->
                  log.warn(
                      "{} claims that nobody heard of wait for their lease: {}",
                      unheard.size(),
                      thrown.toString()));
    }
  }

  private void lookIn(Line line, long wantedMs, long nowNanos) {
    long ms = Math.max(1, Math.min(POLL_MS, wantedMs));
    for (Waiter waiter : line.waiters) {
      ms = Math.min(ms, Math.max(1, (waiter.deadlineNanos() - nowNanos) / 1_000_000 + 1));
    }
    line.timer = vertx.setTimer(ms, unused -> loop.runOnContext(u -> look(line)));
  }

  private void cancelTimer(Line line) {
    if (line.timer >= 0) {
      vertx.cancelTimer(line.timer);
      line.timer = -1;
    }
  }

  private boolean isGone(Waiter waiter) {
    boolean gone = waiter.gone().getAsBoolean();
    if (gone) {
      answer(waiter, List.of());
    }
    return gone;
  }

  private void answer(Waiter waiter, List<ClaimedJob> jobs) {
    waiting.decrementAndGet();
    waiter.context().runOnContext(unused -> waiter.promise().tryComplete(jobs));
  }

  private void fail(Waiter waiter, Throwable cause) {
    waiting.decrementAndGet();
    waiter.context().runOnContext(unused -> waiter.promise().tryFail(cause));
  }

  /** The server is stopping: nobody waits any longer. */
  private void drain() {
    if (inFlight.draining()) {
      for (Line line : List.copyOf(lines.values())) {
        if (!line.asking) {
          cancelTimer(line);
          line.waiters.forEach(waiter -> answer(waiter, List.of()));
          line.waiters.clear();
          lines.remove(line.queue);
        }
      }
    }
  }

  @Override
  public void close() {
    vertx.cancelTimer(drainTimer);
    hints.close();
  }
}
