package dev.lockstep.outbox;

import dev.lockstep.fault.LockstepException;
import dev.lockstep.outbox.CursorTable.Write;
import dev.lockstep.outbox.CursorTable.WriteResult;
import dev.lockstep.outbox.RelayHealth.State;
import dev.lockstep.shard.Lease;
import dev.lockstep.shard.ShardListener;
import dev.lockstep.sql.Listening;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The relay's thread: reads, sends, and writes progress. It alone touches the cursors; other
 * threads send it messages. It never waits for a sink and survives exceptions.
 */
final class RelayLoop implements Runnable, ShardListener {
  private static final Logger log = LoggerFactory.getLogger(RelayLoop.class);
  // Deliveries of about this long are repeated after a crash; a longer interval writes less.
  private static final long WRITE_INTERVAL_NANOS = 20_000_000L;
  private static final long PAUSE_NANOS = 100_000_000L;
  private static final long IDLE_WRITE_NANOS = 20_000_000_000L;
  // Delay before a locked cursor is tried again.
  private static final long LOCKED_PAUSE_NANOS = 200_000_000L;

  private final CursorTable cursors;
  private final OwnedPartitions owned;
  private final RelayReader reader;
  private final RelaySender sender;
  private final RelayConfig config;
  private final Executor executor;
  private final Runnable maintenance;
  private final BlockingQueue<Runnable> messages = new LinkedBlockingQueue<>();
  private final CompletableFuture<Optional<Throwable>> ended = new CompletableFuture<>();
  private long wroteNanos = System.nanoTime();
  private long idleWriteNanos = System.nanoTime();
  private long maintainNanos = System.nanoTime();
  private volatile RelayHealth health = new RelayHealth(State.RELAYING, Optional.empty());
  private volatile boolean stopped;

  /** The loop's collaborators. */
  record Parts(CursorTable cursors, OwnedPartitions owned, RelayReader reader) {}

  RelayLoop(Parts parts, RelayConfig config, Executor executor, Runnable maintenance) {
    this.cursors = parts.cursors();
    this.owned = parts.owned();
    this.reader = parts.reader();
    this.sender = new RelaySender(cursors, owned, config.listener(), messages::add);
    this.config = config;
    this.executor = executor;
    this.maintenance = maintenance;
  }

  @Override
  public void taken(Lease lease) {
    messages.add(() -> owned.take(lease));
  }

  @Override
  public CompletionStage<?> handOver(Lease lease) {
    CompletableFuture<Void> over = new CompletableFuture<>();
    messages.add(() -> owned.handOver(lease, over));
    return over;
  }

  @Override
  public void lost(Lease lease) {
    messages.add(() -> owned.lose(lease));
  }

  void wake() {
    messages.add(reader::wake);
  }

  RelayHealth health() {
    return health;
  }

  /** Completes when the thread ends, with the cause if it was not asked to. */
  CompletionStage<Optional<Throwable>> ended() {
    return ended;
  }

  /** Whether nothing is under way or waits to be written. For tests to await. */
  CompletableFuture<Boolean> isAtRest() {
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    messages.add(
        () ->
            answer.complete(
                owned.all().stream()
                    .allMatch(
                        sink ->
                            sink.isQuiet()
                                && !sink.cursor.hasEvents()
                                && !sink.cursor.hasProgress(false))));
    return answer;
  }

  void stop() {
    stopped = true;
    wake();
  }

  @Override
  public void run() {
    Optional<Throwable> why = Optional.empty();
    try {
      while (!stopped) {
        turnDespiteInterrupt();
      }
    } catch (Throwable e) {
      // Recording the failure failed too.
      why = Optional.of(e);
    } finally {
      Optional<Throwable> unasked = stopped ? Optional.empty() : why;
      health = new RelayHealth(State.ENDED, unasked.map(FailureText::of));
      ended.complete(unasked);
    }
  }

  /** A listener may leave an interrupt behind. Only {@link #stop} ends the thread. */
  private void turnDespiteInterrupt() {
    boolean unused = Thread.interrupted();
    try {
      takeMessages(tryTurn());
    } catch (InterruptedException e) {
      log.debug("The relay was interrupted and continues", e);
    }
  }

  /** Runs one turn; returns the nanoseconds until the next. */
  private long tryTurn() {
    try {
      turn();
      if (health.state() != State.RELAYING) {
        health = new RelayHealth(State.RELAYING, Optional.empty());
      }
      return waitNanos(System.nanoTime());
    } catch (LockstepException | CompletionException e) {
      log.warn("Relaying failed; it is retried: {}", e.toString());
      health = new RelayHealth(State.FAILING, Optional.of(FailureText.of(e)));
    } catch (Throwable e) {
      log.error("Relaying failed; it is retried", e);
      health = new RelayHealth(State.FAILING, Optional.of(FailureText.of(e)));
    }
    return PAUSE_NANOS;
  }

  private void takeMessages(long waitNanos) throws InterruptedException {
    Runnable message = messages.poll(waitNanos, TimeUnit.NANOSECONDS);
    while (message != null) {
      try {
        message.run();
      } catch (Throwable e) {
        log.error("Relay message handler failed", e);
      }
      message = messages.poll();
    }
  }

  private void turn() {
    maintain();
    reader.definitions();
    if (reader.isLoadDue()) {
      // Write progress before loading it again.
      write();
      reader.load();
    }
    reader.backlogs();
    reader.look();
    sender.send();
    write();
    owned.finishHandOvers();
  }

  private void maintain() {
    if (System.nanoTime() - maintainNanos >= config.maintenanceInterval().toNanos()) {
      maintainNanos = System.nanoTime();
      executor.execute(maintenance);
    }
  }

  private void write() {
    long now = System.nanoTime();
    boolean due = now - wroteNanos >= WRITE_INTERVAL_NANOS;
    boolean idle = now - idleWriteNanos >= IDLE_WRITE_NANOS;
    List<SinkPartition> all =
        owned.all().stream().filter(sink -> sink.needsWrite(now, due, idle)).toList();
    if (idle) {
      idleWriteNanos = now;
    }
    List<SinkPartition> locked = all.stream().filter(sink -> sink.life.isLocked()).toList();
    List<SinkPartition> others = all.stream().filter(sink -> !sink.life.isLocked()).toList();
    if (!others.isEmpty()) {
      wroteNanos = now;
      List<Write> writes = others.stream().map(SinkPartition::write).toList();
      written(others, writes, cursors.write(reader.incarnation(), writes, now));
    }
    if (!locked.isEmpty()) {
      List<Write> writes = locked.stream().map(SinkPartition::write).toList();
      written(locked, writes, cursors.writeUnlocked(reader.incarnation(), writes, now));
    }
  }

  private void written(List<SinkPartition> sinks, List<Write> writes, List<WriteResult> results) {
    int locked = 0;
    int stale = 0;
    for (int i = 0; i < sinks.size(); i++) {
      SinkPartition sink = sinks.get(i);
      WriteResult result = results.get(i);
      stale += result.stale() ? 1 : 0;
      if (result.locked()) {
        sink.lockedUntil(System.nanoTime() + LOCKED_PAUSE_NANOS);
        locked++;
        continue;
      }
      sink.cursor.written(writes.get(i).progress(), result.versions());
      if (result.conflict()) {
        sink.life.reload();
        reader.wake();
      }
    }
    int refused = stale;
    int accepted = sinks.size() - locked - stale;
    Listening.tell(() -> config.listener().onCursors(accepted, refused));
  }

  /** Time until the next read or write, the end of a breaker's pause, or a key's retry. */
  private long waitNanos(long now) {
    long wait = reader.waitNanos(now);
    for (SinkPartition sink : owned.all()) {
      wait = Math.min(wait, sink.lockedNanos(now));
      if (!sink.life.isActive()) {
        continue;
      }
      if (sink.cursor.hasProgress(false) && !sink.life.isLocked()) {
        wait = Math.min(wait, Math.max(0, wroteNanos + WRITE_INTERVAL_NANOS - now));
      }
      long left = sink.runner.breaker.leftNanos(now);
      if (left > 0) {
        wait = Math.min(wait, left);
      } else if (sink.mayBegin(now) && sink.cursor.wantsEvents(now) && sink.cursor.isEager()) {
        return 0;
      } else {
        wait = Math.min(wait, sink.cursor.retryInNanos(now));
      }
    }
    return wait;
  }
}
