package dev.lockstep.outbox;

import dev.lockstep.outbox.CursorTable.Write;
import dev.lockstep.outbox.CursorTable.Written;
import dev.lockstep.outbox.RelayHealth.State;
import dev.lockstep.shard.Lease;
import dev.lockstep.shard.ShardListener;
import dev.lockstep.tx.Listening;
import dev.lockstep.tx.LockstepException;
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
 * Reads, hands out, and writes down how far it is: one thread, which alone knows the lanes. Others
 * send it messages. Nothing in it waits for a sink, and nothing that is thrown ends it.
 */
final class RelayLoop implements Runnable, ShardListener {
  private static final Logger log = LoggerFactory.getLogger(RelayLoop.class);
  // So much more is repeated after a crash, and so much less is written.
  private static final long WRITE_INTERVAL_NANOS = 20_000_000L;
  private static final long PAUSE_NANOS = 100_000_000L;
  private static final long IDLE_WRITE_NANOS = 20_000_000_000L;
  // Until it is looked whether somebody's lock is gone.
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

  /** What the loop works with. */
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

  /** Completes when the thread ends, with what ended it if nobody has asked for it. */
  CompletionStage<Optional<Throwable>> ended() {
    return ended;
  }

  /** Whether nothing is on its way or to be written; for tests to await. */
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
      // Not even that something failed could be noted.
      why = Optional.of(e);
    } finally {
      Optional<Throwable> unasked = stopped ? Optional.empty() : why;
      health = new RelayHealth(State.ENDED, unasked.map(Texts::reason));
      ended.complete(unasked);
    }
  }

  /** Until the next turn, in nanoseconds. */
  private long tryTurn() {
    try {
      turn();
      if (health.state() != State.RELAYING) {
        health = new RelayHealth(State.RELAYING, Optional.empty());
      }
      return waitNanos(System.nanoTime());
    } catch (LockstepException | CompletionException e) {
      log.warn("The outbox is not relayed for a moment: {}", e.toString());
      health = new RelayHealth(State.FAILING, Optional.of(Texts.reason(e)));
    } catch (Throwable e) {
      log.error("The outbox is not relayed for a moment", e);
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
      // What they have reached is written before it is read again.
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

  /** Until the next look, or until a breaker closes, or until a key's time has come. */
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
