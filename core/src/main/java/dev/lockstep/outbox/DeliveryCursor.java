package dev.lockstep.outbox;

import dev.lockstep.outbox.EventSource.Batch;
import dev.lockstep.outbox.EventSource.BacklogRequest;
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
 * A sink's progress through one partition: events read but not delivered, the position reached, and
 * the blocked keys. Pure decisions: knows neither the database nor the sink. Not thread-safe.
 *
 * <p>Invariant: every event up to {@link Progress#reached} was delivered, or belongs to a key that
 * is blocked from an earlier sequence on. Position and blocked keys are written together.
 */
final class DeliveryCursor {
  // One being delivered, and the next.
  private static final int MAX_PORTIONS = 2;
  private static final int MAX_BACKLOG_KEYS = 100;
  // If more keys fail without any success, the sink is at fault, not the events.
  static final int MAX_SUSPECTS = 16;

  private final int maxInFlight;
  private final RelayConfig config;
  private final Deque<ReadBatch> portions = new ArrayDeque<>();
  private final Map<String, BlockedKey> blocked = new LinkedHashMap<>();
  private final Map<String, Integer> freed = new HashMap<>();
  private CursorPosition read;
  private CursorPosition reached;
  private CursorPosition written;
  private long delivered;
  private boolean urgent;
  private boolean backlogServed;

  /** Events sent to the sink in one call. */
  record Dispatch(ReadBatch portion, List<Integer> indexes) {
    List<Event> events() {
      return indexes.stream().map(i -> portion.row(i).event()).toList();
    }
  }

  /** A lane's progress, to be written. */
  record Progress(
      CursorPosition reached, long delivered, List<BlockedKey> blocked, Map<String, Integer> freed) {}

  DeliveryCursor(
      RelayConfig config,
      int maxInFlight,
      CursorPosition start,
      long delivered,
      Collection<BlockedKey> blocked) {
    this.config = config;
    this.maxInFlight = maxInFlight;
    this.read = start;
    this.reached = start;
    this.written = start;
    this.delivered = delivered;
    blocked.forEach(one -> this.blocked.put(one.key, one));
  }

  /** Where to continue reading. */
  CursorPosition read() {
    return read;
  }

  int inFlight() {
    return portions.stream().mapToInt(ReadBatch::sent).sum();
  }

  /** Whether anything waits to be sent. */
  boolean hasRows() {
    return !portions.isEmpty();
  }

  /** Whether to read again at once: there is more, or it is its turn. */
  boolean isEager() {
    return isInStep() || backlogServed;
  }

  private boolean isInStep() {
    return read.isInStep();
  }

  /** Whether to read rows. A due backlog goes first: it can be read only between two steps. */
  boolean wantsRows(long nowNanos) {
    return portions.size() < MAX_PORTIONS && (isInStep() || backlogServed || !hasDue(nowNanos));
  }

  /** Whether to read a backlog. Takes turns with {@link #wantsRows}, so that neither starves. */
  boolean wantsBacklog(long nowNanos) {
    return portions.isEmpty() && !isInStep() && !backlogServed && hasDue(nowNanos);
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

  void offer(Batch batch) {
    backlogServed = false;
    CursorPosition from = read;
    read = batch.after();
    if (!batch.rows().isEmpty()) {
      portions.add(ReadBatch.of(from, batch));
    } else if (portions.isEmpty()) {
      reached = read;
    }
  }

  List<BacklogRequest> dueKeys(long nowNanos) {
    return blocked.values().stream()
        .filter(one -> one.isDue(nowNanos))
        .limit(MAX_BACKLOG_KEYS)
        .map(one -> new BacklogRequest(one.key, one.seq, one.ord))
        .toList();
  }

  /**
   * Takes in the events of blocked keys that this lane has passed.
   *
   * @param maxRows asked for per key
   * @param complete whether only maxRows limited the read
   */
  void offerBacklog(List<BacklogRequest> asks, List<ReadEvent> rows, int maxRows, boolean complete) {
    backlogServed = true;
    Map<String, Integer> counts = new HashMap<>();
    rows.forEach(row -> counts.merge(row.event().key(), 1, Integer::sum));
    Map<String, Boolean> keys = new LinkedHashMap<>();
    for (BacklogRequest ask : asks) {
      int count = counts.getOrDefault(ask.key(), 0);
      if (count > 0) {
        keys.put(ask.key(), complete && count < maxRows);
      } else if (complete) {
        free(ask.key());
      }
    }
    if (!rows.isEmpty()) {
      portions.add(ReadBatch.backlog(rows, keys));
    }
  }

  /** Returns what to send now. */
  List<Dispatch> next() {
    settleHead();
    ReadBatch head = portions.peek();
    if (head == null) {
      return List.of();
    }
    List<Dispatch> sends = new ArrayList<>();
    for (List<Integer> indexes :
        head.next(maxInFlight, key -> !head.isBacklog() && blocked.containsKey(key))) {
      sends.add(new Dispatch(head, indexes));
    }
    if (sends.isEmpty() && head.isOver()) {
      return next();
    }
    return sends;
  }

  /**
   * Applies the results of a delivery.
   *
   * @return why the sink is down, if it is
   */
  Optional<String> settle(Dispatch send, List<SinkResult> results, long nowNanos) {
    Optional<String> down = Optional.empty();
    boolean moved = false;
    ReadBatch portion = send.portion();
    Set<String> halted = new HashSet<>();
    for (int i = 0; i < results.size(); i++) {
      int index = send.indexes().get(i);
      SinkResult result = results.get(i);
      ReadEvent row = portion.row(index);
      // After a key's first undelivered event its later results do not count: judging them would
      // skip the first for ever.
      boolean behind = !(result instanceof SinkResult.Delivered) && !halted.add(row.event().key());
      if (result instanceof SinkResult.Delivered) {
        moved = true;
        delivered(portion, index, nowNanos);
      } else if (result instanceof SinkResult.Down failure) {
        down = Optional.of(failure.reason());
        if (maySuspect(portion, row.event().key())) {
          suspect(row, failure, nowNanos);
          portion.pass(row.event().key());
        } else {
          portion.again(index);
        }
      } else if (behind || result instanceof SinkResult.Unsent) {
        portion.again(index);
      } else if (!blocked.containsKey(row.event().key())
          && blocked.size() >= config.maxParkedKeys()) {
        down =
            Optional.of(
                "%d keys are parked or waiting, the most allowed; retry or skip them"
                    .formatted(config.maxParkedKeys()));
        portion.again(index);
      } else {
        moved = true;
        block(row, result, nowNanos);
        portion.pass(row.event().key());
      }
    }
    urgent |= moved && down.isPresent();
    settleHead();
    return moved || down.isPresent() ? down : Optional.of("The sink sent no event of a batch");
  }

  /** Sends it again: the result is unknown. */
  void putBack(Dispatch send) {
    send.indexes().forEach(send.portion()::again);
  }

  private void delivered(ReadBatch portion, int index, long nowNanos) {
    ReadEvent row = portion.row(index);
    portion.over(index);
    delivered++;
    BlockedKey one = portion.isBacklog() ? blocked.get(row.event().key()) : null;
    if (one != null) {
      one.seq = row.event().seq() + 1;
      one.ord = row.ord();
      one.attempts = 0;
      one.error = "";
      one.changed = true;
      one.retryAt(nowNanos);
      urgent = true;
    }
  }

  /**
   * Whether to let other keys past a single event at which the sink reported itself down. The event
   * may be the cause, which would never show otherwise. Events read together are tried together,
   * like a batch; so this concerns the portions behind.
   */
  private boolean maySuspect(ReadBatch portion, String key) {
    if (maxInFlight == 0 || blocked.containsKey(key)) {
      return maxInFlight > 0;
    }
    return portions.stream().anyMatch(other -> other != portion && other.hasOtherThan(key))
        && blocked.values().stream().filter(BlockedKey::isSuspect).count() < MAX_SUSPECTS
        && blocked.size() < config.maxParkedKeys();
  }

  /** Lets its key wait briefly; counts no attempt. */
  private void suspect(ReadEvent row, SinkResult.Down failure, long nowNanos) {
    BlockedKey one = blockedAt(row);
    one.error = failure.reason();
    one.retryAt(nowNanos + config.firstPause().toNanos());
  }

  private void block(ReadEvent row, SinkResult result, long nowNanos) {
    BlockedKey one = blockedAt(row);
    one.attempts++;
    if (result instanceof SinkResult.Retry retry && one.attempts < config.maxAttempts()) {
      one.error = retry.error();
      one.retryAt(
          nowNanos
              + Breaker.pauseAfter(one.attempts, config.firstPause(), config.maxPause()).toNanos());
    } else {
      one.error =
          result instanceof SinkResult.Retry retry
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
    urgent = true;
    return one;
  }

  private void free(String key) {
    BlockedKey one = blocked.remove(key);
    if (one != null) {
      urgent = true;
      if (one.version > 0) {
        freed.put(key, one.version);
      }
    }
  }

  private void settleHead() {
    for (ReadBatch head = portions.peek(); head != null && head.isOver(); head = portions.peek()) {
      portions.remove();
      head.after()
          .ifPresent(
              after -> {
                reached = after;
                urgent = true;
              });
      head.keys()
          .forEach(
              (key, complete) -> {
                if (complete) {
                  free(key);
                }
              });
    }
    if (portions.isEmpty()) {
      reached = read;
    }
  }

  /** Whether there is progress to write. */
  boolean hasProgress(boolean evenIfIdle) {
    return urgent || (evenIfIdle && !reached().equals(written));
  }

  /** Includes progress within a portion: single events may be done long before the rest. */
  private CursorPosition reached() {
    ReadBatch head = portions.peek();
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
  void wrote(Progress progress, Map<String, Integer> versions) {
    written = progress.reached();
    for (BlockedKey one : progress.blocked()) {
      one.version = versions.getOrDefault(one.key, one.version);
      one.changed = false;
    }
    freed.clear();
    urgent = false;
  }

  /** The blocked keys. */
  Collection<BlockedKey> blocked() {
    return blocked.values();
  }
}
