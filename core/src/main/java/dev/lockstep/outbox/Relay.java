package dev.lockstep.outbox;

import dev.lockstep.outbox.SinkCalls.Threads;
import dev.lockstep.shard.ShardOwner;
import dev.lockstep.shard.Shards;
import dev.lockstep.sql.HintListener;
import dev.lockstep.tx.Transactor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Relays events on this node: owns a share of the partitions, reads their committed events and
 * delivers them to each stream's sinks.
 *
 * <p>Made by {@link Outbox#relay}. {@link #close} begins no more deliveries, waits for those under
 * way and hands the partitions over. Thread-safe.
 */
public final class Relay implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Relay.class);
  private static final long END_SECONDS = 5;

  private final OwnedPartitions owned;
  private final RelayLoop loop;
  private final Shards shards;
  private final HintListener hints;
  private final ExecutorService executor;
  private final ScheduledThreadPoolExecutor timer;
  private final Thread thread;

  Relay(
      Transactor transactor,
      Incarnations incarnations,
      EventSource source,
      int partitions,
      RelayConfig config,
      SinkTypes types,
      Runnable maintenance,
      CursorLife.Observer observer) {
    AtomicInteger number = new AtomicInteger();
    this.executor =
        Executors.newCachedThreadPool(
            task -> daemon("outbox-sink-" + number.incrementAndGet(), task));
    this.timer = new ScheduledThreadPoolExecutor(1, task -> daemon("outbox-sink-timeouts", task));
    // Nearly every timer is cancelled; it must not keep its delivery until then.
    timer.setRemoveOnCancelPolicy(true);
    this.owned =
        new OwnedPartitions(types, config, new Threads(executor, timer), this::wake, observer);
    CursorTable cursors = new CursorTable(transactor);
    RelayReader reader =
        new RelayReader(transactor, incarnations, source, cursors, owned, config, executor);
    RelayLoop.Parts parts = new RelayLoop.Parts(cursors, owned, reader);
    this.loop = new RelayLoop(parts, config, executor, maintenance);
    this.shards = new Shards(transactor, config.shards(partitions), loop);
    this.hints =
        new HintListener(
            config.listen(), OutboxConfig.CHANNEL, "outbox-hints", keys -> loop.wake());
    this.thread = daemon("outbox-relay", loop);
  }

  private static Thread daemon(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  void start() {
    var unused =
        loop.ended()
            .thenAccept(
                why -> why.ifPresent(e -> daemon("outbox-give-up", () -> giveUp(e)).start()));
    thread.start();
    hints.start();
    shards.start();
  }

  /** If the relay's thread dies, gives its partitions to other nodes. */
  private void giveUp(Throwable why) {
    hints.close();
    shards.close();
    log.error("The relay died and gave up its partitions; restart it: {}", FailureText.of(why));
  }

  /** Returns the relay's health; never blocks. */
  public RelayHealth health() {
    return loop.health();
  }

  /** How many partitions this node owns, as far as it knows. */
  public int ownedPartitions() {
    return shards.owned().size();
  }

  /** The owner of each partition, according to the database. */
  public List<ShardOwner> owners() {
    return shards.owners();
  }

  /** Reads the table now instead of waiting for the next hint or poll. */
  public void wake() {
    loop.wake();
  }

  CompletableFuture<Boolean> isAtRest() {
    return loop.isAtRest();
  }

  /** The health of the sinks, as this node sees it. */
  public List<SinkHealth> sinks() {
    return owned.sinks().stream()
        .map(runner -> new SinkHealth(runner.row.stream(), runner.row.spec().name(), runner.down()))
        .toList();
  }

  @Override
  public void close() {
    hints.close();
    shards.close();
    loop.stop();
    boolean interrupted = false;
    try {
      thread.join(TimeUnit.SECONDS.toMillis(END_SECONDS));
    } catch (InterruptedException e) {
      interrupted = true;
    }
    CompletableFuture<?> closed = owned.close();
    try {
      if (!interrupted) {
        closed.get(END_SECONDS, TimeUnit.SECONDS);
      }
    } catch (InterruptedException e) {
      interrupted = true;
    } catch (ExecutionException | TimeoutException e) {
      log.warn("Closing the sinks failed or took too long: {}", e.toString());
    }
    // A sink or session that is made only after this is closed then.
    executor.shutdownNow();
    timer.shutdownNow();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
