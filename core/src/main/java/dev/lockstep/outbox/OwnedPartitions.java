package dev.lockstep.outbox;

import dev.lockstep.outbox.CursorTable.CursorRow;
import dev.lockstep.outbox.SinkCalls.Threads;
import dev.lockstep.outbox.Streams.CursorKey;
import dev.lockstep.outbox.Streams.Definitions;
import dev.lockstep.outbox.Streams.SinkRow;
import dev.lockstep.shard.Lease;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What this node is responsible for: the partitions it owns, the sinks, and one {@link
 * SinkPartition} for each sink in each partition. A cursor to be loaded again waits until nothing
 * of it is under way, and delays no other. Used by the relay's thread; other threads may read the
 * sinks.
 */
final class OwnedPartitions {
  // A slower sink delays the handover, but not its neighbours' deliveries.
  private static final long HAND_OVER_PATIENCE_NANOS = 500_000_000L;
  // Pause after a cursor was not found: its lease is over, or its sink is gone.
  private static final long ABSENT_PAUSE_NANOS = 200_000_000L;

  private final SinkTypes types;
  private final RelayConfig config;
  private final Threads threads;
  private final Runnable whenMade;
  private final CursorLife.Observer observer;
  private final Map<Integer, OwnedPartition> partitions = new LinkedHashMap<>();
  private final Map<Integer, SinkRunner> sinks = new ConcurrentHashMap<>();
  private final Map<Name, SinkCalls> calls = new HashMap<>();
  private boolean closed;

  /** Names a sink across its definitions. */
  private record Name(int stream, String sink) {
    static Name of(SinkRow row) {
      return new Name(row.streamId(), row.spec().name());
    }
  }

  /** An owned partition, and its sinks by id. */
  private static final class OwnedPartition {
    final Lease lease;
    final Map<Integer, SinkPartition> sinks = new LinkedHashMap<>();
    long loadFromNanos = System.nanoTime();
    @Nullable CompletableFuture<Void> handOver;
    long leavingNanos;

    OwnedPartition(Lease lease) {
      this.lease = lease;
    }

    boolean isQuiet() {
      return sinks.values().stream().allMatch(SinkPartition::isQuiet);
    }

    void leave() {
      leavingNanos = System.nanoTime();
      sinks.values().forEach(sink -> sink.life.leave());
    }

    /**
     * Ends all cursors together; while one sink is slow, the others go on.
     *
     * @return whether nothing is under way
     */
    boolean leaveTogether() {
      if (isQuiet()) {
        boolean all = sinks.values().stream().noneMatch(sink -> sink.life.isActive());
        if (!all) {
          leave();
        }
        return all;
      }
      if (sinks.values().stream().allMatch(sink -> sink.life.isActive() || sink.isQuiet())) {
        leave();
      } else if (System.nanoTime() - leavingNanos >= HAND_OVER_PATIENCE_NANOS) {
        sinks.values().stream().filter(SinkPartition::isQuiet).forEach(sink -> sink.life.stay());
      }
      return false;
    }

    void end() {
      sinks.values().forEach(SinkPartition::end);
    }

    CompletableFuture<?> sessionsClosed() {
      return CompletableFuture.allOf(
          sinks.values().stream()
              .map(SinkPartition::sessionClosed)
              .toArray(CompletableFuture[]::new));
    }
  }

  /**
   * @param whenMade called on any thread when a sink is made and its cursors can be loaded
   */
  OwnedPartitions(
      SinkTypes types,
      RelayConfig config,
      Threads threads,
      Runnable whenMade,
      CursorLife.Observer observer) {
    this.types = types;
    this.config = config;
    this.threads = threads;
    this.whenMade = whenMade;
    this.observer = observer;
  }

  Collection<SinkRunner> sinks() {
    return sinks.values();
  }

  List<SinkPartition> all() {
    List<SinkPartition> all = new ArrayList<>();
    partitions.values().forEach(partition -> all.addAll(partition.sinks.values()));
    return all;
  }

  void take(Lease lease) {
    OwnedPartition old = partitions.put(lease.shard(), new OwnedPartition(lease));
    if (old != null) {
      old.end();
    }
  }

  void lose(Lease lease) {
    OwnedPartition partition = find(lease);
    if (partition != null) {
      partitions.remove(lease.shard());
      partition.end();
    }
  }

  /** Begins nothing more in the partition; completes when it is quiet. */
  void handOver(Lease lease, CompletableFuture<Void> over) {
    OwnedPartition partition = find(lease);
    if (partition == null) {
      over.complete(null);
    } else {
      partition.handOver = over;
      partition.leave();
    }
  }

  /** Completes the handover of quiet partitions. Their progress must be written before. */
  void finishHandOvers() {
    for (OwnedPartition partition : List.copyOf(partitions.values())) {
      CompletableFuture<Void> over = partition.handOver;
      if (over != null && partition.leaveTogether()) {
        partitions.remove(partition.lease.shard());
        CompletableFuture<?> closed = partition.sessionsClosed();
        partition.end();
        var unused = closed.whenComplete((nothing, e) -> over.complete(null));
      }
    }
  }

  /** All positions are invalid: the server restarted. */
  void expire() {
    all().forEach(sink -> sink.life.expire());
  }

  private @Nullable OwnedPartition find(Lease lease) {
    OwnedPartition partition = partitions.get(lease.shard());
    return partition != null && partition.lease == lease ? partition : null;
  }

  /** Applies new definitions. Cursors with new operators' actions are loaded again. */
  void define(Definitions now) {
    defineSinks(now.sinks());
    for (SinkPartition sink : all()) {
      CursorKey key = new CursorKey(sink.lease.shard(), sink.runner.row.id());
      if (now.orders().getOrDefault(key, 0L) != sink.orders) {
        sink.life.reload();
      }
    }
    partitions.values().forEach(partition -> partition.loadFromNanos = System.nanoTime());
  }

  private synchronized void defineSinks(List<SinkRow> defined) {
    if (closed) {
      return;
    }
    Map<Integer, SinkRow> rows = new HashMap<>();
    defined.forEach(row -> rows.put(row.id(), row));
    for (SinkRunner runner : List.copyOf(sinks.values())) {
      if (!runner.row.equals(rows.get(runner.row.id()))) {
        sinks.remove(runner.row.id());
        retire(runner);
      }
    }
    for (SinkRow row : defined) {
      sinks.computeIfAbsent(row.id(), id -> runner(row));
    }
    Set<Name> names = defined.stream().map(Name::of).collect(Collectors.toSet());
    calls.entrySet().removeIf(e -> !names.contains(e.getKey()) && e.getValue().isIdle());
  }

  private SinkRunner runner(SinkRow row) {
    SinkCalls ofSink =
        calls.computeIfAbsent(
            Name.of(row), name -> new SinkCalls(threads, config.deliverTimeout()));
    return new SinkRunner(row, types, config, ofSink, whenMade);
  }

  private void retire(SinkRunner runner) {
    all().stream()
        .filter(sink -> sink.runner == runner)
        .forEach(
            sink -> {
              sink.life.reload();
              sink.closeSession();
            });
    var unused = runner.close();
  }

  /** The sinks to load per partition: new ones, and quiet ones to be loaded again. */
  Map<Lease, List<Integer>> toLoad(long nowNanos) {
    Map<Lease, List<Integer>> all = new LinkedHashMap<>();
    for (OwnedPartition partition : partitions.values()) {
      partition.sinks.values().removeIf(this::endIfGone);
      if (partition.handOver == null
          && partition.lease.isLive()
          && nowNanos - partition.loadFromNanos >= 0) {
        List<Integer> wanted =
            sinks.values().stream()
                .filter(SinkRunner::isMade)
                .map(runner -> runner.row.id())
                .filter(sink -> needsLoad(partition.sinks.get(sink)))
                .toList();
        if (!wanted.isEmpty()) {
          all.put(partition.lease, wanted);
        }
      }
    }
    return all;
  }

  private boolean endIfGone(SinkPartition sink) {
    boolean gone =
        sink.life.needsReload() && sink.isQuiet() && !sinks.containsKey(sink.runner.row.id());
    if (gone) {
      sink.end();
    }
    return gone;
  }

  private static boolean needsLoad(@Nullable SinkPartition sink) {
    return sink == null || (sink.life.needsReload() && sink.isQuiet());
  }

  /**
   * Replaces cursors by loaded ones; a session stays open if its sink is unchanged.
   *
   * @param asked the sinks that were asked for
   */
  void load(Lease lease, List<Integer> asked, List<CursorRow> cursors) {
    OwnedPartition partition = find(lease);
    if (partition == null) {
      return;
    }
    if (cursors.size() < asked.size()) {
      partition.loadFromNanos = System.nanoTime() + ABSENT_PAUSE_NANOS;
    }
    for (CursorRow cursor : cursors) {
      SinkRunner runner = sinks.get(cursor.sink());
      if (runner != null) {
        SinkPartition loaded = new SinkPartition(lease, runner, cursor, config, observer);
        SinkPartition former = partition.sinks.put(cursor.sink(), loaded);
        if (former != null && former.runner == runner) {
          loaded.takeOver(former);
        }
        if (former != null) {
          former.end();
        }
      }
    }
  }

  /** Closes all sessions and sinks, and makes no more. May be called by any thread. */
  synchronized CompletableFuture<?> close() {
    closed = true;
    return CompletableFuture.allOf(
        sinks.values().stream().map(SinkRunner::close).toArray(CompletableFuture[]::new));
  }
}
