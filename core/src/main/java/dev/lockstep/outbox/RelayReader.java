package dev.lockstep.outbox;

import dev.lockstep.outbox.CursorTable.CursorRows;
import dev.lockstep.outbox.EventSource.ReadRequest;
import dev.lockstep.outbox.EventSource.Backlog;
import dev.lockstep.outbox.EventSource.BacklogRequest;
import dev.lockstep.outbox.EventSource.Look;
import dev.lockstep.outbox.Streams.Definitions;
import dev.lockstep.shard.Lease;
import dev.lockstep.tx.Transactor;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads definitions, cursors and events for a relay. All data in memory belongs to one incarnation
 * of the server. An answer from another is discarded, and everything is loaded again from the
 * tables. Used by the relay's thread.
 */
final class RelayReader {
  private static final Logger log = LoggerFactory.getLogger(RelayReader.class);
  private static final long FIRST_DELAY_NANOS = 4_000_000L;

  private final Transactor transactor;
  private final Incarnations home;
  private final EventSource source;
  private final CursorTable cursors;
  private final OwnedPartitions territory;
  private final RelayConfig config;
  private final Executor executor;
  // Empty: unknown, or over.
  private String incarnation = "";
  private long version = -1;
  private long seenVersion = -1;
  private long nextLookNanos = System.nanoTime();
  private long delayNanos = FIRST_DELAY_NANOS;

  RelayReader(
      Transactor transactor,
      Incarnations home,
      EventSource source,
      CursorTable cursors,
      OwnedPartitions territory,
      RelayConfig config,
      Executor executor) {
    this.transactor = transactor;
    this.home = home;
    this.source = source;
    this.cursors = cursors;
    this.territory = territory;
    this.config = config;
    this.executor = executor;
  }

  /** The incarnation of the data that is not stale. */
  String incarnation() {
    return incarnation;
  }

  void wake() {
    nextLookNanos = System.nanoTime();
    delayNanos = FIRST_DELAY_NANOS;
  }

  /** Time until the next read. */
  long waitNanos(long now) {
    return seenVersion == version ? Math.max(0, nextLookNanos - now) : 0;
  }

  /** Whether an answer comes from the incarnation that the positions belong to. */
  private boolean isSame(String answered) {
    if (!incarnation.isEmpty() && incarnation.equals(answered)) {
      return true;
    }
    if (!incarnation.isEmpty()) {
      log.warn("The database was restarted or replaced; reloading the outbox from its cursors");
    }
    incarnation = "";
    version = -1;
    territory.forget();
    return false;
  }

  /** Reloads streams, sinks and operators' actions if they have changed. */
  void definitions() {
    if (version < 0 || version != seenVersion) {
      Definitions now =
          transactor.call(transactor.defaults().withLabel("outbox definitions"), Streams::read);
      territory.define(now);
      version = now.version();
      seenVersion = now.version();
    }
  }

  /** Whether a place must be loaded; write progress first. */
  boolean isLoadDue() {
    return !territory.toLoad(System.nanoTime()).isEmpty();
  }

  void load() {
    Map<Lease, List<Integer>> asked = territory.toLoad(System.nanoTime());
    if (asked.isEmpty()) {
      return;
    }
    if (incarnation.isEmpty()) {
      incarnation = home.settle();
    }
    CursorRows load = cursors.load(asked, System.nanoTime());
    if (isSame(load.incarnation())) {
      asked.forEach(
          (lease, sinks) ->
              territory.load(lease, sinks, load.cursors().getOrDefault(lease, List.of())));
      nextLookNanos = System.nanoTime();
    }
  }

  void backlogs() {
    long now = System.nanoTime();
    for (SinkPartition place : territory.places()) {
      if (place.mayBegin(now) && place.lane.wantsBacklog(now)) {
        List<BacklogRequest> keys = place.lane.dueKeys(now);
        int maxRows = Math.max(1, config.batchRows() / keys.size());
        Backlog backlog = source.backlog(place.ask(), keys, maxRows, config.batchBytes());
        if (!isSame(backlog.incarnation())) {
          return;
        }
        long bytes = backlog.rows().stream().mapToLong(row -> row.event().content().size()).sum();
        place.lane.offerBacklog(keys, backlog.rows(), maxRows, bytes < config.batchBytes());
      }
    }
  }

  /** Reads for all lanes in one query; lanes at the same position share the answer. */
  void look() {
    long now = System.nanoTime();
    boolean due = now - nextLookNanos >= 0;
    Map<ReadRequest, List<SinkPartition>> asks = new LinkedHashMap<>();
    for (SinkPartition place : territory.places()) {
      // Reads even while the sink is paused. Otherwise the lane could find its sink down each time:
      // its first event fails before the next read brings one of another key.
      if (place.mayRead() && place.lane.wantsRows(now) && (due || place.lane.isEager())) {
        asks.computeIfAbsent(place.ask(), ask -> new ArrayList<>()).add(place);
      }
    }
    if (asks.isEmpty() && !due) {
      return;
    }
    Look look = read(List.copyOf(asks.keySet()));
    boolean found = false;
    if (asks.isEmpty() || isSame(look.incarnation())) {
      Iterator<EventSource.Batch> batches = look.batches().iterator();
      for (List<SinkPartition> sharing : asks.values()) {
        EventSource.Batch batch = batches.next();
        found |= !batch.rows().isEmpty();
        sharing.forEach(place -> place.lane.offer(batch));
      }
      seenVersion = look.version();
    }
    if (due) {
      delayNanos =
          found ? FIRST_DELAY_NANOS : Math.min(2 * delayNanos, config.pollInterval().toNanos());
      nextLookNanos = System.nanoTime() + delayNanos;
    }
  }

  /** With much to read, reads half of it on a second connection in parallel. */
  private Look read(List<ReadRequest> asks) {
    if (asks.size() < 2 || asks.stream().noneMatch(ask -> ask.from().isInStep())) {
      return source.look(asks, config.batchRows(), config.batchBytes());
    }
    List<ReadRequest> half = asks.subList(0, asks.size() / 2);
    List<ReadRequest> others = asks.subList(half.size(), asks.size());
    CompletableFuture<Look> otherLook =
        CompletableFuture.supplyAsync(
            () -> source.look(others, config.batchRows(), config.batchBytes()), executor);
    Look look = source.look(half, config.batchRows(), config.batchBytes());
    return look.and(otherLook.join());
  }
}
