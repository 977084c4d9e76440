package dev.lockstep.outbox;

import dev.lockstep.outbox.CursorTable.Loaded;
import dev.lockstep.outbox.Streams.Definitions;
import dev.lockstep.outbox.Streams.SinkRow;
import dev.lockstep.shard.Lease;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * What a node has to do with: the partitions it owns, the sinks there are, and a {@link Place} for
 * each sink in each partition. Used by the relay's thread; the others may look at the sinks.
 */
final class Territory {
  private final SinkTypes types;
  private final RelayConfig config;
  private final Executor executor;
  private final Map<Integer, Partition> partitions = new LinkedHashMap<>();
  private final Map<Integer, SinkRunner> sinks = new ConcurrentHashMap<>();

  private static final class Partition {
    final Lease lease;
    final Map<Integer, Place> places = new LinkedHashMap<>();
    boolean loaded;
    @Nullable CompletableFuture<Void> handOver;

    Partition(Lease lease) {
      this.lease = lease;
    }

    boolean isQuiet() {
      return places.values().stream().allMatch(Place::isQuiet);
    }

    void end() {
      places.values().forEach(place -> place.ending = true);
    }
  }

  Territory(SinkTypes types, RelayConfig config, Executor executor) {
    this.types = types;
    this.config = config;
    this.executor = executor;
  }

  Collection<SinkRunner> sinks() {
    return sinks.values();
  }

  List<Place> places() {
    List<Place> all = new ArrayList<>();
    partitions.values().forEach(partition -> all.addAll(partition.places.values()));
    return all;
  }

  void take(Lease lease) {
    partitions.put(lease.shard(), new Partition(lease));
  }

  void lose(Lease lease) {
    Partition partition = find(lease);
    if (partition != null) {
      partitions.remove(lease.shard());
      partition.places.values().forEach(Place::closeSession);
    }
  }

  /** Begins nothing more in the partition; ends when it is quiet. */
  void handOver(Lease lease, CompletableFuture<Void> over) {
    Partition partition = find(lease);
    if (partition == null) {
      over.complete(null);
    } else {
      partition.handOver = over;
      partition.end();
    }
  }

  /**
   * Whoever waits for a partition that is quiet gets it. What it reached must be written before.
   */
  void finishHandOvers() {
    for (Partition partition : List.copyOf(partitions.values())) {
      CompletableFuture<Void> over = partition.handOver;
      if (over != null && partition.isQuiet()) {
        partitions.remove(partition.lease.shard());
        CompletableFuture<?>[] closed =
            partition.places.values().stream()
                .map(Place::sessionClosed)
                .toArray(CompletableFuture[]::new);
        var unused =
            CompletableFuture.allOf(closed).whenComplete((nothing, e) -> over.complete(null));
      }
    }
  }

  /** The place is to be read again, with its neighbours, once nothing is on its way. */
  void readAgain(Lease lease) {
    Partition partition = find(lease);
    if (partition != null) {
      partition.loaded = false;
      partition.end();
    }
  }

  private @Nullable Partition find(Lease lease) {
    Partition partition = partitions.get(lease.shard());
    return partition != null && partition.lease == lease ? partition : null;
  }

  /** The sinks are these now; everything is to be read again. */
  void define(Definitions now) {
    Map<Integer, SinkRow> rows = new HashMap<>();
    now.sinks().forEach(row -> rows.put(row.id(), row));
    for (SinkRunner runner : List.copyOf(sinks.values())) {
      if (!runner.row.equals(rows.get(runner.row.id()))) {
        sinks.remove(runner.row.id());
        retire(runner);
      }
    }
    for (SinkRow row : now.sinks()) {
      sinks.computeIfAbsent(row.id(), id -> new SinkRunner(row, types, config, executor));
    }
    partitions.values().forEach(partition -> readAgain(partition.lease));
  }

  private void retire(SinkRunner runner) {
    places().stream()
        .filter(place -> place.runner == runner)
        .forEach(
            place -> {
              place.ending = true;
              place.closeSession();
            });
    var unused = runner.close();
  }

  /** Partitions that are quiet and to be read. */
  List<Lease> toLoad() {
    return partitions.values().stream()
        .filter(one -> !one.loaded && one.handOver == null && one.lease.isLive() && one.isQuiet())
        .map(one -> one.lease)
        .toList();
  }

  /** A partition as it was read; sessions stay as they are where the sink is the same. */
  void load(Lease lease, List<Loaded> cursors) {
    Partition partition = find(lease);
    if (partition == null) {
      return;
    }
    Map<Integer, Place> before = new HashMap<>(partition.places);
    partition.places.clear();
    partition.loaded = true;
    for (Loaded cursor : cursors) {
      SinkRunner runner = sinks.get(cursor.sink());
      if (runner != null) {
        Place place = new Place(lease, runner, cursor, config);
        partition.places.put(cursor.sink(), place);
        Place old = before.get(cursor.sink());
        if (old != null && old.runner == runner) {
          place.opened(old.takeSession());
        }
      }
    }
    before.values().forEach(Place::closeSession);
  }

  /** When the relay ends. */
  CompletableFuture<?> close() {
    places().forEach(Place::closeSession);
    return CompletableFuture.allOf(
        sinks.values().stream().map(SinkRunner::close).toArray(CompletableFuture[]::new));
  }
}
