package dev.lockstep.shard;

import dev.lockstep.shard.GroupView.ShardRow;
import dev.lockstep.shard.ShardTable.Taken;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends heartbeats and, with each, takes or gives up shards until the node owns its share. One
 * thread does all of it, so most fields need no lock. A second thread calls the listener, so that a
 * slow listener cannot stop the heartbeats.
 */
final class ShareBalancer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ShareBalancer.class);
  private static final long END_SECONDS = 10;

  private final ShardTable table;
  private final ShardsConfig config;
  private final ShardListener listener;
  private final ScheduledExecutorService heart;
  private final ScheduledExecutorService teller;
  private final SortedMap<Integer, OwnShard> held = new ConcurrentSkipListMap<>();
  private final CountDownLatch empty = new CountDownLatch(1);
  private @Nullable Membership membership;
  private volatile @Nullable String failure;
  private volatile boolean leaving;
  private boolean started;
  private boolean closed;

  /** How far a hand-over has got. If it fails, the shard is held as before. */
  private enum Phase {
    HELD,
    /** The listener was asked to hand it over. */
    ASKED,
    /** The listener has finished; the shard can be released. */
    FINISHED
  }

  private static final class OwnShard {
    final Lease lease;
    Phase phase = Phase.HELD;
    // Why the listener failed to take it; it is called again.
    volatile @Nullable String untold;

    OwnShard(Lease lease) {
      this.lease = lease;
    }
  }

  ShareBalancer(ShardTable table, ShardsConfig config, ShardListener listener) {
    this.table = table;
    this.config = config;
    this.listener = listener;
    this.heart = thread("shard-" + config.group());
    this.teller = thread("shard-" + config.group() + "-events");
  }

  private static ScheduledExecutorService thread(String name) {
    return Executors.newSingleThreadScheduledExecutor(
        task -> {
          Thread thread = new Thread(task, name);
          thread.setDaemon(true);
          return thread;
        });
  }

  synchronized void start() {
    if (started || closed) {
      throw new IllegalStateException("Shards can be started once; make a new instance");
    }
    started = true;
    var unused =
        heart.scheduleWithFixedDelay(
            this::beatSafely, 0, config.heartbeatInterval().toMillis(), TimeUnit.MILLISECONDS);
  }

  List<Lease> owned() {
    return held.values().stream().map(h -> h.lease).toList();
  }

  private void beatSafely() {
    try {
      beat();
      failure = null;
    } catch (Throwable e) {
      // The leases last until they expire; a heartbeat that succeeds by then saves them. Catch
      // everything: a node without heartbeats would never own a shard again.
      failure = String.valueOf(e.getMessage());
      log.warn(
          "Heartbeat for the shards of {} failed; it is retried: {}", config.group(), e.toString());
    }
  }

  private void beat() {
    if (membership == null && leaving) {
      empty.countDown();
      return;
    }
    long askedNanos = System.nanoTime();
    Membership now = membership == null ? joined(askedNanos) : membership;
    var view = table.beat(now.member(), leaving);
    if (view.isEmpty()) {
      log.warn(
          "This node was declared dead in {} and lost its shards; it joins again", config.group());
      loseAll();
      return;
    }
    now.confirm(askedNanos);
    compare(now, view.get());
    balance(now, view.get());
    if (leaving && held.isEmpty()) {
      empty.countDown();
    }
  }

  private Membership joined(long askedNanos) {
    Membership fresh = new Membership(config.lease(), table.idleTimeout());
    table.join(fresh.member(), config.node());
    fresh.confirm(askedNanos);
    membership = fresh;
    return fresh;
  }

  /**
   * Compares this node's leases with the database. They differ after a COMMIT whose answer was
   * lost, or if the table was changed by hand.
   */
  private void compare(Membership now, GroupView view) {
    Map<Integer, ShardRow> mine = new HashMap<>();
    for (ShardRow row : view.shards()) {
      if (now.member().equals(row.owner())) {
        mine.put(row.shard(), row);
      }
    }
    for (OwnShard one : List.copyOf(held.values())) {
      ShardRow row = mine.remove(one.lease.shard());
      if (row == null || row.epoch() != one.lease.epoch()) {
        drop(one, one.phase != Phase.FINISHED);
      }
    }
    // Whether the previous owner, perhaps this node, had finished is unknown: assume not.
    mine.values().forEach(row -> own(now, new Taken(row.shard(), row.epoch(), false)));
  }

  private void balance(Membership now, GroupView view) {
    held.values().stream().filter(one -> one.untold != null).forEach(this::tellTaken);
    List.copyOf(held.values()).stream()
        .filter(one -> one.phase == Phase.FINISHED)
        .forEach(this::release);
    Map<UUID, Integer> owned = view.ownedByStaying();
    int share = FairShare.of(now.member(), owned, view.shards().size());
    int missing = share - held.size();
    // Shuffled, so that members that look at the same moment do not all try the same shards.
    List<ShardRow> free = new ArrayList<>(view.free());
    Collections.shuffle(free);
    if (missing > 0 && !free.isEmpty()) {
      table
          .take(now.member(), free.subList(0, Math.min(missing, free.size())))
          .forEach(taken -> own(now, taken));
    }
    long asked = held.values().stream().filter(one -> one.phase != Phase.HELD).count();
    held.values().stream()
        .filter(one -> one.phase == Phase.HELD)
        .sorted(Comparator.comparingInt(one -> -one.lease.shard()))
        .limit(Math.max(0, held.size() - asked - share))
        .forEach(this::askFor);
  }

  private void own(Membership now, Taken taken) {
    Lease lease = new Lease(now, config.group(), taken.shard(), taken.epoch(), taken.handedOver());
    OwnShard fresh = new OwnShard(lease);
    held.put(lease.shard(), fresh);
    log.debug("Took {}", lease);
    tellTaken(fresh);
  }

  /** Tells the listener. If that fails, the next heartbeat tries again: an untold shard is idle. */
  private void tellTaken(OwnShard one) {
    one.untold = null;
    tell(
        () -> {
          try {
            if (!one.lease.isOver()) {
              listener.taken(one.lease);
            }
          } catch (Throwable e) {
            one.untold = String.valueOf(e.getMessage());
            log.warn("Listener failed to take {}; it is called again: {}", one.lease, e.toString());
          }
        });
  }

  /** What keeps this node from its share, if anything. */
  Optional<String> trouble() {
    String now = failure;
    if (now != null) {
      return Optional.of("Heartbeats for the shards of %s fail: %s".formatted(config.group(), now));
    }
    return held.values().stream()
        .filter(one -> one.untold != null)
        .findFirst()
        .map(
            one ->
                "%s is owned but idle, its listener failed: %s".formatted(one.lease, one.untold));
  }

  private void askFor(OwnShard one) {
    one.phase = Phase.ASKED;
    tell(
        () -> {
          var unused =
              handOver(one.lease)
                  .whenComplete(
                      (nothing, failure) -> onHeartbeatThread(() -> handedOver(one, failure)));
        });
  }

  private CompletionStage<?> handOver(Lease lease) {
    try {
      return listener.handOver(lease);
    } catch (Throwable e) {
      return CompletableFuture.failedStage(e);
    }
  }

  private void handedOver(OwnShard one, @Nullable Throwable failure) {
    if (held.get(one.lease.shard()) != one) {
      return;
    }
    if (failure != null) {
      log.warn("Handover of {} failed; it is asked for again", one.lease, failure);
      one.phase = Phase.HELD;
      return;
    }
    one.phase = Phase.FINISHED;
    try {
      release(one);
    } catch (RuntimeException e) {
      log.warn(
          "Releasing {} failed; it is retried with the next heartbeat: {}",
          one.lease,
          e.toString());
    }
    if (leaving && held.isEmpty()) {
      empty.countDown();
    }
  }

  private void release(OwnShard one) {
    table.release(one.lease);
    log.debug("Gave up {}", one.lease);
    drop(one, false);
  }

  private void drop(OwnShard one, boolean tell) {
    held.remove(one.lease.shard());
    one.lease.end();
    if (tell) {
      log.warn("Lost {}", one.lease);
      tell(() -> listener.lost(one.lease));
    }
  }

  private void loseAll() {
    if (membership != null) {
      membership.end();
      membership = null;
    }
    List.copyOf(held.values()).forEach(one -> drop(one, true));
  }

  private void tell(Runnable event) {
    teller.execute(
        () -> {
          try {
            event.run();
          } catch (Throwable e) {
            log.error("Listener of the shards of {} failed", config.group(), e);
          }
        });
  }

  private void onHeartbeatThread(Runnable step) {
    try {
      heart.execute(step);
    } catch (RejectedExecutionException e) {
      log.debug("Closed meanwhile", e);
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    leaving = true;
    if (started) {
      onHeartbeatThread(this::beatSafely);
      await(empty);
      onHeartbeatThread(this::leave);
    }
    end(heart);
    end(teller);
  }

  /** Leaves the group. Other members take the remaining shards as from a dead node, but at once. */
  private void leave() {
    Membership last = membership;
    loseAll();
    if (last == null) {
      return;
    }
    try {
      table.leave(last.member());
    } catch (RuntimeException e) {
      log.warn(
          "Leaving {} failed; other nodes take its shards when the lease ends: {}",
          config.group(),
          e.toString());
    }
  }

  private void await(CountDownLatch latch) {
    try {
      if (!latch.await(config.closeTimeout().toMillis(), TimeUnit.MILLISECONDS)) {
        log.warn("Not all shards of {} were handed over within the close timeout", config.group());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void end(ScheduledExecutorService thread) {
    thread.shutdown();
    try {
      if (!thread.awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
        thread.shutdownNow();
      }
    } catch (InterruptedException e) {
      thread.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }
}
