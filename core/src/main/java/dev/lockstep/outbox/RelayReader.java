package dev.lockstep.outbox;

import dev.lockstep.outbox.CursorTable.CursorRows;
import dev.lockstep.outbox.EventSource.Backlog;
import dev.lockstep.outbox.EventSource.BacklogRequest;
import dev.lockstep.outbox.EventSource.Look;
import dev.lockstep.outbox.EventSource.ReadRequest;
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
  private final Incarnations incarnations;
  private final EventSource source;
  private final CursorTable cursors;
  private final OwnedPartitions owned;
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
      Incarnations incarnations,
      EventSource source,
      CursorTable cursors,
      OwnedPartitions owned,
      RelayConfig config,
      Executor executor) {
    this.transactor = transactor;
    this.incarnations = incarnations;
    this.source = source;
    this.cursors = cursors;
    this.owned = owned;
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
    owned.expire();
    return false;
  }

  /** Reloads streams, sinks and operators' actions if they have changed. */
  void definitions() {
    if (version < 0 || version != seenVersion) {
      Definitions now =
          transactor.call(transactor.defaults().withLabel("outbox definitions"), Streams::read);
      owned.define(now);
      version = now.version();
      seenVersion = now.version();
    }
  }

  /** Whether a cursor must be loaded; write progress first. */
  boolean isLoadDue() {
    return !owned.toLoad(System.nanoTime()).isEmpty();
  }

  void load() {
    Map<Lease, List<Integer>> asked = owned.toLoad(System.nanoTime());
    if (asked.isEmpty()) {
      return;
    }
    if (incarnation.isEmpty()) {
      incarnation = incarnations.establish();
    }
    CursorRows load = cursors.load(asked, System.nanoTime());
    if (isSame(load.incarnation())) {
      asked.forEach(
          (lease, sinks) ->
              owned.load(lease, sinks, load.cursors().getOrDefault(lease, List.of())));
      nextLookNanos = System.nanoTime();
    }
  }

  void backlogs() {
    long now = System.nanoTime();
    for (SinkPartition sink : owned.all()) {
      if (sink.mayBegin(now) && sink.cursor.wantsBacklog(now)) {
        List<BacklogRequest> requests = sink.cursor.backlogRequests(now);
        int maxRows = Math.max(1, config.batchRows() / requests.size());
        Backlog backlog =
            source.backlog(sink.readRequest(), requests, maxRows, config.batchBytes());
        if (!isSame(backlog.incarnation())) {
          return;
        }
        long bytes = backlog.rows().stream().mapToLong(row -> row.event().content().size()).sum();
        sink.cursor.addBacklog(requests, backlog.rows(), maxRows, bytes < config.batchBytes());
      }
    }
  }

  /** Reads for all cursors together; cursors at the same position share the answer. */
  void look() {
    long now = System.nanoTime();
    boolean due = now - nextLookNanos >= 0;
    Map<ReadRequest, List<SinkPartition>> requests = new LinkedHashMap<>();
    for (SinkPartition sink : owned.all()) {
      // Reads even while the sink is paused. Otherwise the sink could be down at each try: the
      // first event fails before the next read brings one of another key.
      if (sink.mayRead() && sink.cursor.wantsEvents(now) && (due || sink.cursor.isEager())) {
        requests.computeIfAbsent(sink.readRequest(), request -> new ArrayList<>()).add(sink);
      }
    }
    if (requests.isEmpty() && !due) {
      return;
    }
    Look look = read(List.copyOf(requests.keySet()));
    boolean found = false;
    if (requests.isEmpty() || isSame(look.incarnation())) {
      Iterator<EventSource.Batch> batches = look.batches().iterator();
      for (List<SinkPartition> sharing : requests.values()) {
        EventSource.Batch batch = batches.next();
        found |= !batch.rows().isEmpty();
        sharing.forEach(sink -> sink.cursor.addEvents(batch));
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
  private Look read(List<ReadRequest> requests) {
    if (requests.size() < 2 || requests.stream().noneMatch(request -> request.from().isInStep())) {
      return source.look(requests, config.batchRows(), config.batchBytes());
    }
    List<ReadRequest> half = requests.subList(0, requests.size() / 2);
    List<ReadRequest> others = requests.subList(half.size(), requests.size());
    CompletableFuture<Look> otherLook =
        CompletableFuture.supplyAsync(
            () -> source.look(others, config.batchRows(), config.batchBytes()), executor);
    Look look = source.look(half, config.batchRows(), config.batchBytes());
    return look.and(otherLook.join());
  }
}
