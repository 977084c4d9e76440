package dev.lockstep.outbox;

import dev.lockstep.fault.LockstepException;
import dev.lockstep.outbox.CursorTable.Write;
import dev.lockstep.outbox.CursorTable.Written;
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
 * The relay's thread: reads, sends, and writes progress. It alone touches the lanes; other threads
 * send it messages. It never waits for a sink and survives exceptions.
 */
final class RelayLoop implements Runnable, ShardListener {
  private static final Logger log = LoggerFactory.getLogger(RelayLoop.class);
  // Up to this much is repeated after a crash; a longer interval writes less.
  private static final long WRITE_INTERVAL_NANOS = 20_000_000L;
  private static final long PAUSE_NANOS = 100_000_000L;
  private static final long IDLE_WRITE_NANOS = 20_000_000_000L;
  // Delay before a locked cursor is tried again.
  private static final long LOCKED_PAUSE_NANOS = 200_000_000L;

  private final CursorTable cursors;
  private final Territory territory;
  private final Reading reading;
  private final Sending sending;
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
  record Parts(CursorTable cursors, Territory territory, Reading reading) {}

  RelayLoop(Parts parts, RelayConfig config, Executor executor, Runnable maintenance) {
    this.cursors = parts.cursors();
    this.territory = parts.territory();
    this.reading = parts.reading();
    this.sending = new Sending(cursors, territory, config.listener(), messages::add);
    this.config = config;
    this.executor = executor;
    this.maintenance = maintenance;
  }

  @Override
  public void taken(Lease lease) {
    messages.add(() -> territory.take(lease));
  }

  @Override
  public CompletionStage<?> handOver(Lease lease) {
    CompletableFuture<Void> over = new CompletableFuture<>();
    messages.add(() -> territory.handOver(lease, over));
    return over;
  }

  @Override
  public void lost(Lease lease) {
    messages.add(() -> territory.lose(lease));
  }

  void wake() {
    messages.add(reading::wake);
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
                territory.places().stream()
                    .allMatch(
                        place ->
                            place.isQuiet()
                                && !place.lane.hasRows()
                                && !place.lane.hasProgress(false))));
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
        takeMessages(tryTurn());
      }
    } catch (InterruptedException e) {
      why = Optional.of(e);
      Thread.currentThread().interrupt();
    } catch (Throwable e) {
      // Recording the failure failed too.
      why = Optional.of(e);
    } finally {
      Optional<Throwable> unasked = stopped ? Optional.empty() : why;
      health = new RelayHealth(State.ENDED, unasked.map(Texts::reason));
      ended.complete(unasked);
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
      health = new RelayHealth(State.FAILING, Optional.of(Texts.reason(e)));
    } catch (Throwable e) {
      log.error("Relaying failed; it is retried", e);
      health = new RelayHealth(State.FAILING, Optional.of(Texts.reason(e)));
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
    reading.definitions();
    if (reading.isLoadDue()) {
      // Write progress before loading it again.
      write();
      reading.load();
    }
    reading.backlogs();
    reading.look();
    sending.send();
    write();
    territory.finishHandOvers();
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
    List<Place> places =
        territory.places().stream().filter(p -> p.isToWrite(now, due, idle)).toList();
    if (idle) {
      idleWriteNanos = now;
    }
    List<Place> held = places.stream().filter(Place::isHeld).toList();
    List<Place> others = places.stream().filter(place -> !place.isHeld()).toList();
    if (!others.isEmpty()) {
      wroteNanos = now;
      List<Write> writes = others.stream().map(Place::write).toList();
      wrote(others, writes, cursors.write(reading.incarnation(), writes, now));
    }
    if (!held.isEmpty()) {
      List<Write> writes = held.stream().map(Place::write).toList();
      wrote(held, writes, cursors.writeUnlocked(reading.incarnation(), writes, now));
    }
  }

  private void wrote(List<Place> places, List<Write> writes, List<Written> written) {
    int locked = 0;
    int stale = 0;
    for (int i = 0; i < places.size(); i++) {
      Place place = places.get(i);
      stale += written.get(i).stale() ? 1 : 0;
      if (written.get(i).locked()) {
        place.hold(System.nanoTime() + LOCKED_PAUSE_NANOS);
        locked++;
        continue;
      }
      place.wrote(writes.get(i).progress(), written.get(i).versions());
      if (written.get(i).conflict()) {
        place.again = true;
        reading.wake();
      }
    }
    int refused = stale;
    int accepted = places.size() - locked - stale;
    Listening.tell(() -> config.listener().onCursors(accepted, refused));
  }

  /** Time until the next read, the end of a breaker's pause, or a key's retry. */
  private long waitNanos(long now) {
    long wait = reading.waitNanos(now);
    for (Place place : territory.places()) {
      wait = Math.min(wait, place.heldNanos(now));
      if (place.isEnding()) {
        continue;
      }
      if (place.lane.hasProgress(false) && !place.isHeld()) {
        wait = Math.min(wait, Math.max(0, wroteNanos + WRITE_INTERVAL_NANOS - now));
      }
      long left = place.runner.breaker.leftNanos(now);
      if (left > 0) {
        wait = Math.min(wait, left);
      } else if (place.mayBegin(now) && place.lane.wantsRows(now) && place.lane.isEager()) {
        return 0;
      } else {
        wait = Math.min(wait, place.lane.retryInNanos(now));
      }
    }
    return wait;
  }
}
