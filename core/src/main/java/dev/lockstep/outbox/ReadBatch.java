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

/** Events read together, with the state of each. Not thread-safe. */
final class ReadBatch {
  private enum State {
    PENDING,
    SENT,
    OVER
  }

  private final List<ReadEvent> rows;
  private final Optional<CursorPosition> from;
  private final Optional<CursorPosition> after;
  private final Map<String, Boolean> keys;
  private final State[] states;
  private int open;
  private int sent;
  // All rows before this one are over.
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
    this.open = rows.size();
    Arrays.fill(states, State.PENDING);
  }

  /** Events that a look read from a position on. */
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

  /** The position once this is over; empty for a backlog. */
  Optional<CursorPosition> after() {
    return after;
  }

  /** The position within it; empty for a backlog, or if nothing is over yet. */
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

  /** The keys of a backlog, each with whether it is free once this is over. */
  Map<String, Boolean> keys() {
    return keys;
  }

  ReadEvent row(int index) {
    return rows.get(index);
  }

  boolean isOver() {
    return open == 0;
  }

  int sent() {
    return sent;
  }

  /** Whether an event of another key is not over. */
  boolean hasOtherThan(String key) {
    return IntStream.range(first, states.length)
        .anyMatch(i -> states[i] != State.OVER && !rows.get(i).event().key().equals(key));
  }

  /**
   * Marks the events that can be sent now as sent, and returns them.
   *
   * @param maxInFlight 0: everything pending as one batch, if nothing is under way. More: single
   *     events, none while an earlier one of its key is not over
   * @param passed keys to step over
   */
  List<List<Integer>> next(int maxInFlight, Predicate<String> passed) {
    for (int i = first; i < states.length; i++) {
      if (states[i] == State.PENDING && passed.test(rows.get(i).event().key())) {
        over(i);
      }
    }
    return maxInFlight == 0 ? nextBatch() : nextEvents(maxInFlight);
  }

  private List<List<Integer>> nextBatch() {
    if (sent > 0 || open == 0) {
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
      if (states[i] != State.OVER
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

  /** Delivered, or stepped over. */
  void over(int index) {
    if (states[index] == State.OVER) {
      return;
    }
    if (states[index] == State.SENT) {
      sent--;
    }
    states[index] = State.OVER;
    open--;
    while (first < states.length && states[first] == State.OVER) {
      first++;
    }
  }

  /** Not delivered: to be sent again. */
  void again(int index) {
    if (states[index] == State.SENT) {
      sent--;
      states[index] = State.PENDING;
    }
  }

  /** Sends no more of the key, although it is not complete. */
  void pass(String key) {
    keys.computeIfPresent(key, (passed, complete) -> false);
    for (int i = first; i < states.length; i++) {
      if (states[i] != State.OVER && rows.get(i).event().key().equals(key)) {
        over(i);
      }
    }
  }
}
