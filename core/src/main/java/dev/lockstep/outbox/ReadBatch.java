package dev.lockstep.outbox;

import dev.lockstep.outbox.EventSource.ReadEvent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * Events read together, new ones or a backlog, with the state of each. Not thread-safe.
 *
 * <pre>
 *   PENDING ──► SENT ──► FINISHED    delivered, or its key is blocked
 *   SENT ──► PENDING                 to be sent again
 *   PENDING ──► FINISHED             its key is blocked
 * </pre>
 */
final class ReadBatch {
  private enum State {
    PENDING,
    SENT,
    FINISHED
  }

  private final List<ReadEvent> rows;
  private final Optional<CursorPosition> from;
  private final Optional<CursorPosition> after;
  private final Map<String, Boolean> keys;
  private final State[] states;
  private int unfinished;
  private int sent;
  // All rows before this one are finished.
  private int first;

  private ReadBatch(
      List<ReadEvent> rows,
      Optional<CursorPosition> from,
      Optional<CursorPosition> after,
      Map<String, Boolean> keys) {
    this.rows = rows;
    this.from = from;
    this.after = after;
    this.keys = new LinkedHashMap<>(keys);
    this.states = new State[rows.size()];
    this.unfinished = rows.size();
    Arrays.fill(states, State.PENDING);
  }

  /** New events, read from a position on. */
  static ReadBatch of(CursorPosition from, EventSource.Batch batch) {
    return new ReadBatch(batch.rows(), Optional.of(from), Optional.of(batch.after()), Map.of());
  }

  /**
   * The backlog of blocked keys.
   *
   * @param keys each with whether this is its whole backlog
   */
  static ReadBatch backlog(List<ReadEvent> rows, Map<String, Boolean> keys) {
    return new ReadBatch(rows, Optional.empty(), Optional.empty(), keys);
  }

  /** The cursor's position once all events are finished; empty for a backlog. */
  Optional<CursorPosition> after() {
    return after;
  }

  /** The cursor's position now; empty for a backlog, or if the first event is not finished. */
  Optional<CursorPosition> reached() {
    if (first == 0 || after.isEmpty()) {
      return Optional.empty();
    }
    String target = after.get().target() == null ? after.get().done() : after.get().target();
    ReadEvent row = rows.get(first - 1);
    return from.map(position -> position.within(target, row.ord(), row.event().id()));
  }

  boolean isBacklog() {
    return after.isEmpty();
  }

  /** The keys of a backlog, each with whether it flows once this is finished. */
  Map<String, Boolean> keys() {
    return keys;
  }

  ReadEvent row(int index) {
    return rows.get(index);
  }

  boolean isFinished() {
    return unfinished == 0;
  }

  /** How many events are under way. */
  int sent() {
    return sent;
  }

  /** Whether an event of another key is not finished. */
  boolean hasOtherThan(String key) {
    return IntStream.range(first, states.length)
        .anyMatch(i -> states[i] != State.FINISHED && !rows.get(i).event().key().equals(key));
  }

  /**
   * Marks the events that can be sent now as sent, and returns them.
   *
   * @param maxInFlight 0: everything pending as one batch, if nothing is under way. More: single
   *     events, none while an earlier one of its key is unfinished
   * @param blocked keys to step over
   */
  List<List<Integer>> next(int maxInFlight, Predicate<String> blocked) {
    for (int i = first; i < states.length; i++) {
      if (states[i] == State.PENDING && blocked.test(rows.get(i).event().key())) {
        finish(i);
      }
    }
    return maxInFlight == 0 ? nextBatch() : nextEvents(maxInFlight);
  }

  private List<List<Integer>> nextBatch() {
    if (sent > 0 || unfinished == 0) {
      return List.of();
    }
    List<Integer> batch = new ArrayList<>();
    for (int i = first; i < states.length; i++) {
      if (states[i] == State.PENDING) {
        send(i);
        batch.add(i);
      }
    }
    return List.of(batch);
  }

  private List<List<Integer>> nextEvents(int maxInFlight) {
    List<List<Integer>> events = new ArrayList<>();
    Set<String> busy = new HashSet<>();
    for (int i = first; i < states.length && sent < maxInFlight; i++) {
      if (states[i] != State.FINISHED
          && busy.add(rows.get(i).event().key())
          && states[i] == State.PENDING) {
        send(i);
        events.add(List.of(i));
      }
    }
    return events;
  }

  private void send(int index) {
    states[index] = State.SENT;
    sent++;
  }

  /** Delivered, or stepped over because its key is blocked. */
  void finish(int index) {
    if (states[index] == State.FINISHED) {
      return;
    }
    if (states[index] == State.SENT) {
      sent--;
    }
    states[index] = State.FINISHED;
    unfinished--;
    while (first < states.length && states[first] == State.FINISHED) {
      first++;
    }
  }

  /** Not delivered: to be sent again, unless its key was blocked meanwhile. */
  void resend(int index) {
    if (states[index] == State.SENT) {
      sent--;
      states[index] = State.PENDING;
    }
  }

  /** Sends no more of a key that is blocked now, and keeps it blocked when this is finished. */
  void block(String key) {
    keys.computeIfPresent(key, (blocked, complete) -> false);
    for (int i = first; i < states.length; i++) {
      if (states[i] != State.FINISHED && rows.get(i).event().key().equals(key)) {
        finish(i);
      }
    }
  }
}
