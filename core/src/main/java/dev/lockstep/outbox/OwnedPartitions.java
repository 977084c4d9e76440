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
 * A node's responsibilities: the partitions it owns, the sinks, and one {@link SinkPartition} per sink and
 * partition. A place to be loaded again waits until nothing of it is under way; no other place
 * waits with it. Used by the relay's thread; other threads may read the sinks.
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
  private final Map<Integer, Partition> partitions = new LinkedHashMap<>();
  private final Map<Integer, SinkRunner> sinks = new ConcurrentHashMap<>();
  private final Map<Name, SinkCalls> calls = new HashMap<>();
  private boolean closed;

  /** Names a sink across its definitions. */
  private record Name(int stream, String sink) {
    static Name of(SinkRow row) {
      return new Name(row.streamId(), row.spec().name());
    }
  }

  private static final class Partition {
    final Lease lease;
    final Map<Integer, SinkPartition> places = new LinkedHashMap<>();
    long loadFromNanos = System.nanoTime();
    @Nullable CompletableFuture<Void> handOver;
    long endingNanos;

    Partition(Lease lease) {
      this.lease = lease;
    }

    boolean isQuiet() {
      return places.values().stream().allMatch(SinkPartition::isQuiet);
    }

    void end() {
      endingNanos = System.nanoTime();
      places.values().forEach(place -> place.leaving = true);
    }

    /**
     * Ends all places; if one takes long, the others continue until it is quiet.
     *
     * @return whether nothing is under way
     */
    boolean endTogether() {
      if (isQuiet()) {
        boolean all = places.values().stream().allMatch(place -> place.leaving);
        if (!all) {
          end();
        }
        return all;
      }
      if (places.values().stream().filter(place -> place.leaving).allMatch(SinkPartition::isQuiet)) {
        end();
      } else if (System.nanoTime() - endingNanos >= HAND_OVER_PATIENCE_NANOS) {
        places.values().stream().filter(SinkPartition::isQuiet).forEach(place -> place.leaving = false);
      }
      return false;
    }
  }

  /**
   * @param whenMade called on any thread when a sink is made and its places can be loaded
   */
  OwnedPartitions(SinkTypes types, RelayConfig config, Threads threads, Runnable whenMade) {
    this.types = types;
    this.config = config;
    this.threads = threads;
    this.whenMade = whenMade;
  }

  Collection<SinkRunner> sinks() {
    return sinks.values();
  }

  List<SinkPartition> places() {
    List<SinkPartition> all = new ArrayList<>();
    partitions.values().forEach(partition -> all.addAll(partition.places.values()));
    return all;
  }

  void take(Lease lease) {
    Partition old = partitions.put(lease.shard(), new Partition(lease));
    if (old != null) {
      old.places.values().forEach(SinkPartition::abandon);
    }
  }

  void lose(Lease lease) {
    Partition partition = find(lease);
    if (partition != null) {
      partitions.remove(lease.shard());
      partition.places.values().forEach(SinkPartition::abandon);
    }
  }

  /** Begins nothing more in the partition; completes when it is quiet. */
  void handOver(Lease lease, CompletableFuture<Void> over) {
    Partition partition = find(lease);
    if (partition == null) {
      over.complete(null);
    } else {
      partition.handOver = over;
      partition.end();
    }
  }

  /** Completes the handover of quiet partitions. Their progress must be written before. */
  void finishHandOvers() {
    for (Partition partition : List.copyOf(partitions.values())) {
      CompletableFuture<Void> over = partition.handOver;
      if (over != null && partition.endTogether()) {
        partitions.remove(partition.lease.shard());
        CompletableFuture<?>[] closed =
            partition.places.values().stream()
                .map(SinkPartition::sessionClosed)
                .toArray(CompletableFuture[]::new);
        var unused =
            CompletableFuture.allOf(closed).whenComplete((nothing, e) -> over.complete(null));
      }
    }
  }

  /** Marks everything stale, to be loaded again. */
  void forget() {
    places().forEach(place -> place.stale = true);
  }

  private @Nullable Partition find(Lease lease) {
    Partition partition = partitions.get(lease.shard());
    return partition != null && partition.lease == lease ? partition : null;
  }

  /** Applies new definitions. Places with new operators' actions are loaded again. */
  void define(Definitions now) {
    defineSinks(now.sinks());
    for (SinkPartition place : places()) {
      CursorKey at = new CursorKey(place.lease.shard(), place.runner.row.id());
      if (now.orders().getOrDefault(at, 0L) != place.orders) {
        place.again = true;
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
    places().stream()
        .filter(place -> place.runner == runner)
        .forEach(
            place -> {
              place.again = true;
              place.closeSession();
            });
    var unused = runner.close();
  }

  /** The sinks to load per partition: new ones, and quiet ones to be loaded again. */
  Map<Lease, List<Integer>> toLoad(long nowNanos) {
    Map<Lease, List<Integer>> all = new LinkedHashMap<>();
    for (Partition partition : partitions.values()) {
      partition.places.values().removeIf(this::abandonIfGone);
      if (partition.handOver == null
          && partition.lease.isLive()
          && nowNanos - partition.loadFromNanos >= 0) {
        List<Integer> wanted =
            sinks.values().stream()
                .filter(SinkRunner::isMade)
                .map(runner -> runner.row.id())
                .filter(sink -> isToLoad(partition.places.get(sink)))
                .toList();
        if (!wanted.isEmpty()) {
          all.put(partition.lease, wanted);
        }
      }
    }
    return all;
  }

  private boolean abandonIfGone(SinkPartition place) {
    boolean gone =
        place.isToBeRead() && place.isQuiet() && !sinks.containsKey(place.runner.row.id());
    if (gone) {
      place.abandon();
    }
    return gone;
  }

  private static boolean isToLoad(@Nullable SinkPartition place) {
    return place == null || (place.isToBeRead() && place.isQuiet());
  }

  /**
   * Takes in loaded places; a session stays open if its sink is unchanged.
   *
   * @param asked the sinks that were asked for
   */
  void load(Lease lease, List<Integer> asked, List<CursorRow> cursors) {
    Partition partition = find(lease);
    if (partition == null) {
      return;
    }
    if (cursors.size() < asked.size()) {
      partition.loadFromNanos = System.nanoTime() + ABSENT_PAUSE_NANOS;
    }
    for (CursorRow cursor : cursors) {
      SinkRunner runner = sinks.get(cursor.sink());
      if (runner != null) {
        SinkPartition place = new SinkPartition(lease, runner, cursor, config);
        SinkPartition old = partition.places.put(cursor.sink(), place);
        if (old != null && old.runner == runner) {
          place.opened(old.takeSession());
        } else if (old != null) {
          old.closeSession();
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
