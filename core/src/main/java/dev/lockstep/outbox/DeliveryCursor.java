package dev.lockstep.outbox;

import dev.lockstep.outbox.EventSource.BacklogRequest;
import dev.lockstep.outbox.EventSource.Batch;
import dev.lockstep.outbox.EventSource.ReadEvent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A sink's progress in one partition: the events read but not delivered, the position reached, and
 * the blocked keys. Decides what to read, to send and to write, and knows neither the database nor
 * the sink. {@link CursorLife} has its states. Not thread-safe.
 *
 * <p>Invariant: every event up to {@link Progress#reached} was delivered, or belongs to a key that
 * is blocked from there or earlier. Position and blocked keys are written together.
 */
final class DeliveryCursor {
  // One being delivered, and the next.
  private static final int MAX_BATCHES = 2;
  private static final int MAX_BACKLOG_KEYS = 100;
  // If more keys are set aside without any success, the sink is at fault, not the events.
  static final int MAX_SUSPECTS = 16;

  private final CursorLife life;
  private final int maxInFlight;
  private final RelayConfig config;
  private final Deque<ReadBatch> batches = new ArrayDeque<>();
  private final Map<String, BlockedKey> blocked = new LinkedHashMap<>();
  private final Map<String, Integer> freed = new HashMap<>();
  private CursorPosition readFrom;
  private CursorPosition reached;
  private CursorPosition written;
  private long delivered;
  // Keys set aside since the last delivered event, and when the last of them was.
  private int suspects;
  private long suspectedNanos;

  /** Events sent to the sink in one call. */
  record Dispatch(ReadBatch batch, List<Integer> indexes) {
    List<Event> events() {
      return indexes.stream().map(i -> batch.row(i).event()).toList();
    }
  }

  /**
   * What to write.
   *
   * @param freed keys that flow again, with the version of the row to delete
   */
  record Progress(
      CursorPosition reached,
      long delivered,
      List<BlockedKey> blocked,
      Map<String, Integer> freed) {}

  DeliveryCursor(
      CursorLife life,
      RelayConfig config,
      int maxInFlight,
      CursorPosition start,
      long delivered,
      Collection<BlockedKey> blocked) {
    this.life = life;
    this.config = config;
    this.maxInFlight = maxInFlight;
    this.readFrom = start;
    this.reached = start;
    this.written = start;
    this.delivered = delivered;
    blocked.forEach(one -> this.blocked.put(one.key, one));
  }

  /** Where to continue reading. */
  CursorPosition readFrom() {
    return readFrom;
  }

  int inFlight() {
    return batches.stream().mapToInt(ReadBatch::sent).sum();
  }

  /** Whether events were read and are not finished. */
  boolean hasEvents() {
    return !batches.isEmpty();
  }

  /** Whether to read again at once: there is more, or it is the turn of new events. */
  boolean isEager() {
    return !life.isBetweenSteps();
  }

  /** Whether to read new events. A due backlog goes first, between two steps. */
  boolean wantsEvents(long nowNanos) {
    return batches.size() < MAX_BATCHES && (isEager() || !hasDue(nowNanos));
  }

  /** Whether to read a backlog. Takes turns with {@link #wantsEvents}, so that neither starves. */
  boolean wantsBacklog(long nowNanos) {
    return batches.isEmpty() && !isEager() && hasDue(nowNanos);
  }

  private boolean hasDue(long nowNanos) {
    return blocked.values().stream().anyMatch(one -> one.isDue(nowNanos));
  }

  /** Time until the next key is retried; Long.MAX_VALUE: none is waiting. */
  long retryInNanos(long nowNanos) {
    return blocked.values().stream()
        .filter(one -> !one.isParked() && !one.isDue(nowNanos))
        .mapToLong(one -> one.retryInNanos(nowNanos))
        .min()
        .orElse(Long.MAX_VALUE);
  }

  void addEvents(Batch batch) {
    CursorPosition from = readFrom;
    readFrom = batch.after();
    life.readTo(readFrom);
    if (!batch.rows().isEmpty()) {
      batches.add(ReadBatch.of(from, batch));
    } else if (batches.isEmpty()) {
      reached = readFrom;
    }
  }

  List<BacklogRequest> backlogRequests(long nowNanos) {
    return blocked.values().stream()
        .filter(one -> one.isDue(nowNanos))
        .limit(MAX_BACKLOG_KEYS)
        .map(one -> new BacklogRequest(one.key, one.seq, one.ord))
        .toList();
  }

  /**
   * Adds events of blocked keys that the cursor has passed.
   *
   * @param maxRows asked for per key
   * @param complete whether only maxRows limited the read
   */
  void addBacklog(
      List<BacklogRequest> requests, List<ReadEvent> rows, int maxRows, boolean complete) {
    life.readBacklog();
    Map<String, Integer> counts = new HashMap<>();
    rows.forEach(row -> counts.merge(row.event().key(), 1, Integer::sum));
    Map<String, Boolean> keys = new LinkedHashMap<>();
    for (BacklogRequest request : requests) {
      int count = counts.getOrDefault(request.key(), 0);
      if (count > 0) {
        keys.put(request.key(), complete && count < maxRows);
      } else if (complete) {
        free(request.key());
      }
    }
    if (!rows.isEmpty()) {
      batches.add(ReadBatch.backlog(rows, keys));
    }
  }

  /** Returns what to send now. */
  List<Dispatch> next() {
    removeFinished();
    ReadBatch head = batches.peek();
    if (head == null) {
      return List.of();
    }
    List<Dispatch> dispatches = new ArrayList<>();
    for (List<Integer> indexes :
        head.next(maxInFlight, key -> !head.isBacklog() && blocked.containsKey(key))) {
      dispatches.add(new Dispatch(head, indexes));
    }
    if (dispatches.isEmpty() && head.isFinished()) {
      return next();
    }
    return dispatches;
  }

  /**
   * Applies the results of a delivery.
   *
   * @return why the sink is down, if it is
   */
  Optional<String> apply(Dispatch dispatch, List<SinkResult> results, long nowNanos) {
    Optional<String> down = Optional.empty();
    boolean moved = false;
    ReadBatch batch = dispatch.batch();
    Set<String> halted = new HashSet<>();
    for (int i = 0; i < results.size(); i++) {
      int index = dispatch.indexes().get(i);
      SinkResult result = results.get(i);
      ReadEvent row = batch.row(index);
      // After a key's first undelivered event its later results do not count: blocking the key at a
      // later failure, or moving it past a later success, would skip the first for ever.
      boolean behind =
          halted.contains(row.event().key())
              || (!(result instanceof SinkResult.Delivered) && !halted.add(row.event().key()));
      if (result instanceof SinkResult.Delivered && !behind) {
        moved = true;
        delivered(batch, index, nowNanos);
      } else if (result instanceof SinkResult.Down failure) {
        down = Optional.of(failure.reason());
        if (maySuspect(batch, row.event().key(), nowNanos)) {
          suspect(row, failure, nowNanos);
          batch.block(row.event().key());
        } else {
          batch.resend(index);
        }
      } else if (behind || result instanceof SinkResult.Unsent) {
        batch.resend(index);
      } else if (!blocked.containsKey(row.event().key())
          && blocked.size() >= config.maxParkedKeys()) {
        down =
            Optional.of(
                "%d keys are parked or waiting, the most allowed; retry or skip them"
                    .formatted(config.maxParkedKeys()));
        batch.resend(index);
      } else {
        moved = true;
        block(row, result, nowNanos);
        batch.block(row.event().key());
      }
    }
    if (moved && down.isPresent()) {
      life.progressed();
    }
    removeFinished();
    return moved || down.isPresent() ? down : Optional.of("The sink sent no event of a batch");
  }

  /** Sends it again: the result is unknown. */
  void resend(Dispatch dispatch) {
    dispatch.indexes().forEach(dispatch.batch()::resend);
  }

  private void delivered(ReadBatch batch, int index, long nowNanos) {
    ReadEvent row = batch.row(index);
    batch.finish(index);
    delivered++;
    suspects = 0;
    BlockedKey one = batch.isBacklog() ? blocked.get(row.event().key()) : null;
    if (one != null) {
      one.seq = row.event().seq() + 1;
      one.ord = row.ord();
      one.attempts = 0;
      one.error = "";
      one.changed = true;
      one.retryAt(nowNanos);
      life.progressed();
    }
  }

  /**
   * Whether to block the key of a single event at which the sink reported itself down. The event
   * may be the cause; then other keys get through. Events of the same batch are tried anyway, so
   * this matters only if events of other keys wait in another batch.
   *
   * <p>Beyond {@link #MAX_SUSPECTS} only one key per longest pause: when the sink is back, an event
   * that it never takes must not hold up the keys behind it, and those set aside before.
   */
  private boolean maySuspect(ReadBatch batch, String key, long nowNanos) {
    if (maxInFlight == 0 || blocked.containsKey(key)) {
      return maxInFlight > 0;
    }
    boolean few =
        suspects < MAX_SUSPECTS || nowNanos - suspectedNanos >= config.maxPause().toNanos();
    return few
        && blocked.size() < config.maxParkedKeys()
        && batches.stream().anyMatch(other -> other != batch && other.hasOtherThan(key));
  }

  /** Lets its key wait briefly; counts no attempt. */
  private void suspect(ReadEvent row, SinkResult.Down failure, long nowNanos) {
    if (!blocked.containsKey(row.event().key())) {
      suspects++;
      suspectedNanos = nowNanos;
    }
    BlockedKey one = blockedAt(row);
    one.error = failure.reason();
    one.retryAt(nowNanos + config.firstPause().toNanos());
  }

  private void block(ReadEvent row, SinkResult result, long nowNanos) {
    BlockedKey one = blockedAt(row);
    one.attempts++;
    if (result instanceof SinkResult.RetryLater retry && one.attempts < config.maxAttempts()) {
      one.error = retry.error();
      one.retryAt(
          nowNanos
              + Breaker.pauseAfter(one.attempts, config.firstPause(), config.maxPause()).toNanos());
    } else {
      one.error =
          result instanceof SinkResult.RetryLater retry
              ? retry.error()
              : ((SinkResult.Poison) result).error();
      one.park();
    }
  }

  /** Blocks the event's key from this event on. */
  private BlockedKey blockedAt(ReadEvent row) {
    String key = row.event().key();
    BlockedKey one = blocked.get(key);
    if (one == null) {
      one = new BlockedKey(key, row.event().seq(), row.ord());
      Integer version = freed.remove(key);
      one.version = version == null ? 0 : version;
      blocked.put(key, one);
    }
    one.seq = row.event().seq();
    one.ord = row.ord();
    one.changed = true;
    life.progressed();
    return one;
  }

  private void free(String key) {
    BlockedKey one = blocked.remove(key);
    if (one != null) {
      life.progressed();
      if (one.version > 0) {
        freed.put(key, one.version);
      }
    }
  }

  private void removeFinished() {
    for (ReadBatch head = batches.peek();
        head != null && head.isFinished();
        head = batches.peek()) {
      batches.remove();
      head.after()
          .ifPresent(
              after -> {
                reached = after;
                life.progressed();
              });
      head.keys()
          .forEach(
              (key, complete) -> {
                if (complete) {
                  free(key);
                }
              });
    }
    if (batches.isEmpty()) {
      reached = readFrom;
    }
  }

  /** Whether there is progress to write. */
  boolean hasProgress(boolean evenIfIdle) {
    return life.isWriteDue() || (evenIfIdle && !reached().equals(written));
  }

  /** Includes progress within a batch: single events may be done long before the rest. */
  private CursorPosition reached() {
    ReadBatch head = batches.peek();
    return head == null ? reached : head.reached().orElse(reached);
  }

  Progress progress() {
    return new Progress(
        reached(),
        delivered,
        blocked.values().stream().filter(one -> one.changed).toList(),
        Map.copyOf(freed));
  }

  /** The progress is written. */
  void written(Progress progress, Map<String, Integer> versions) {
    written = progress.reached();
    for (BlockedKey one : progress.blocked()) {
      one.version = versions.getOrDefault(one.key, one.version);
      one.changed = false;
    }
    freed.clear();
    life.written();
  }

  /** The blocked keys. */
  Collection<BlockedKey> blocked() {
    return blocked.values();
  }
}
