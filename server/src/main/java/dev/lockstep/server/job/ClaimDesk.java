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
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where callers of this node wait for jobs to claim. A waiter is a list entry and holds neither
 * thread nor connection. Per queue, one transaction at a time asks for all waiters, in order of
 * arrival. Then nobody asks until a hint names the queue, the next job is due, a lease ends, or a
 * poll is due.
 *
 * <p>Few queues ask at a time, and each polls less often when many wait, so that waiters delay
 * neither buyers nor each other.
 *
 * <p>Everything except {@link #claim} and {@link #close} runs on one event loop, without a lock.
 */
final class ClaimDesk implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ClaimDesk.class);

  /** How often a queue is polled; less often when many queues have waiters. */
  private static final long POLL_MS = 1_000;

  /** The polls of all queues together are on average at least this far apart. */
  private static final long BETWEEN_POLLS_MS = 5;

  /** Hints come for every job; after an empty answer, wait at least this long. */
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
  private final Set<Line> turns = new LinkedHashSet<>();
  private final int maxAsking;
  private int asking;
  private final AtomicInteger waiting = new AtomicInteger();
  private final long drainTimer;

  /**
   * @param maxWaiting waiters on this node, over all queues
   * @param listen opens a dedicated connection for notifications; empty: it polls
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
    // The other half is left to buyers, whatever the claims wait for.
    this.maxAsking = Math.max(1, workers.threads() / 2);
    this.hints = claims.hints(listen, queues -> loop.runOnContext(unused -> hinted(queues)));
    this.drainTimer = vertx.setPeriodic(DRAIN_LOOK_MS, timer -> loop.runOnContext(u -> drain()));
    hints.start();
  }

  /** The waiters of one queue. */
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
   * Claims jobs of the queue as soon as there are some; none when the time is up.
   *
   * @param gone whether the caller has left
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

  int waiting() {
    return waiting.get();
  }

  /**
   * @param queues none: any queue may have a job
   */
  private void hinted(Set<String> queues) {
    long now = System.nanoTime();
    for (Line line : List.copyOf(lines.values())) {
      if (!queues.isEmpty() && !queues.contains(line.queue)) {
        continue;
      }
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
    turns.add(line);
    takeTurns();
  }

  private void takeTurns() {
    while (asking < maxAsking && !turns.isEmpty()) {
      Line next = turns.iterator().next();
      turns.remove(next);
      ask(next);
    }
  }

  private void ask(Line line) {
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
      lines.remove(line.queue, line);
      return;
    }
    line.asking = true;
    asking++;
    line.hinted = false;
    List<ClaimAsk> asks = batch.stream().map(Waiter::ask).toList();
    workers
        .run(() -> claims.claim(line.queue, asks))
        .onComplete(taken -> loop.runOnContext(unused -> answered(line, batch, taken)));
  }

  private void answered(Line line, List<Waiter> batch, AsyncResult<Claims.Taken> taken) {
    asking--;
    took(line, batch, taken);
    takeTurns();
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
    // Ask at least once for every waiter, however short its time.
    late.stream().filter(batch::contains).forEach(waiter -> answer(waiter, List.of()));
    line.waiters.removeIf(waiter -> waiter.isDue(now) && batch.contains(waiter));
    if (line.waiters.isEmpty()) {
      lines.remove(line.queue, line);
    } else if (allServed || line.waiters.stream().anyMatch(waiter -> waiter.isDue(now))) {
      look(line);
    } else {
      long next = line.hinted ? 0 : taken.result().nextMs().orElse(Long.MAX_VALUE);
      lookIn(line, Math.max(SHORTEST_MS, next), now);
    }
  }

  /** True if every waiter got something, so there may be more. */
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

  /** Gives back claims whose claimers never hear of them. */
  void giveBack(List<ClaimToken> unheard) {
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
                      "{} claims could not be handed out; their leases must expire: {}",
                      unheard.size(),
                      thrown.toString()));
    }
  }

  private void lookIn(Line line, long wantedMs, long nowNanos) {
    long pollMs = Math.max(POLL_MS, BETWEEN_POLLS_MS * lines.size());
    long ms = Math.max(1, Math.min(pollMs, wantedMs));
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

  /** The server is stopping: send all waiters away. */
  private void drain() {
    if (inFlight.draining()) {
      for (Line line : List.copyOf(lines.values())) {
        if (!line.asking) {
          cancelTimer(line);
          line.waiters.forEach(waiter -> answer(waiter, List.of()));
          line.waiters.clear();
          lines.remove(line.queue, line);
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
