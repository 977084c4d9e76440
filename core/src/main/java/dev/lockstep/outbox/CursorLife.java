package dev.lockstep.outbox;

import static java.util.Map.entry;

import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The life of a {@link DeliveryCursor}, from its load to its end. A cursor is in one state of each
 * of the four parts below. {@link #MOVES} has every move there is; any other throws.
 *
 * <p>{@link Phase}: what the relay may do with the cursor.
 *
 * <pre>
 *   ACTIVE    ─┬─ its partition is handed over ──► LEAVING
 *              ├─ its row or its sink changes ───► RELOADING
 *              ├─ the server restarts ───────────► STALE
 *              └─ the lease is lost ─────────────► ENDED
 *   LEAVING   ─┬─ another sink takes long ───────► ACTIVE
 *              ├─ its row or its sink changes ───► RELOADING
 *              ├─ the server restarts ───────────► STALE
 *              └─ handed over, lease lost ───────► ENDED
 *   RELOADING ─┬─ the server restarts ───────────► STALE
 *              └─ loaded again, sink removed, … ─► ENDED
 *   STALE     ─── loaded again, sink removed, … ─► ENDED
 * </pre>
 *
 * <p>{@link SessionPhase}: the sink's session. A failed delivery closes it; a cursor that is loaded
 * again takes it over from the one before.
 *
 * <pre>
 *   CLOSED    ─┬─ there are events ──────────────► OPENING
 *              └─ taken over ────────────────────► OPEN
 *   OPENING   ─┬─ open ──────────────────────────► OPEN
 *              └─ cannot be opened ──────────────► CLOSED
 *   OPEN      ─── closed, given away ────────────► CLOSED
 * </pre>
 *
 * <p>{@link ReadPhase}: what is read next. A step goes from one snapshot to the next. A backlog is
 * read only between two steps, in turn with new events.
 *
 * <pre>
 *   BETWEEN_STEPS ─┬─ a part of a step is read ──► IN_STEP
 *                  └─ a backlog is read ─────────► AFTER_BACKLOG
 *   IN_STEP       ─── the rest is read ──────────► BETWEEN_STEPS
 *   AFTER_BACKLOG ─┬─ a whole step is read ──────► BETWEEN_STEPS
 *                  └─ a part of a step is read ──► IN_STEP
 * </pre>
 *
 * <p>{@link WritePhase}: whether its row is up to date. Progress that only moves the position is
 * written when idle and needs no state.
 *
 * <pre>
 *   WRITTEN   ─┬─ a batch ends, a key is blocked ► DUE
 *              └─ a write meets a lock ──────────► LOCKED
 *   DUE       ─┬─ written ───────────────────────► WRITTEN
 *              └─ a write meets a lock ──────────► LOCKED
 *   LOCKED    ─── written ───────────────────────► WRITTEN
 * </pre>
 *
 * <p>Not part of it: the states of a key at a sink ({@link BlockedKey}), which are stored, and
 * those of a single event in memory ({@link ReadBatch}). Used by the relay's thread.
 */
final class CursorLife {
  enum Phase {
    /** Reads, sends and writes. */
    ACTIVE,
    /** Begins nothing more; writes what was delivered. */
    LEAVING,
    /** The same, and is loaded again once nothing of it is under way. */
    RELOADING,
    /** Its positions are invalid: writes nothing, and is loaded again. */
    STALE,
    /** Nobody uses it. */
    ENDED
  }

  enum SessionPhase {
    CLOSED,
    OPENING,
    OPEN
  }

  enum ReadPhase {
    BETWEEN_STEPS,
    IN_STEP,
    AFTER_BACKLOG
  }

  enum WritePhase {
    WRITTEN,
    DUE,
    LOCKED
  }

  /** The states that each state can move to. */
  static final Map<Enum<?>, Set<Enum<?>>> MOVES =
      Map.ofEntries(
          entry(Phase.ACTIVE, Set.of(Phase.LEAVING, Phase.RELOADING, Phase.STALE, Phase.ENDED)),
          entry(Phase.LEAVING, Set.of(Phase.ACTIVE, Phase.RELOADING, Phase.STALE, Phase.ENDED)),
          entry(Phase.RELOADING, Set.of(Phase.STALE, Phase.ENDED)),
          entry(Phase.STALE, Set.of(Phase.ENDED)),
          entry(Phase.ENDED, Set.of()),
          entry(SessionPhase.CLOSED, Set.of(SessionPhase.OPENING, SessionPhase.OPEN)),
          entry(SessionPhase.OPENING, Set.of(SessionPhase.OPEN, SessionPhase.CLOSED)),
          entry(SessionPhase.OPEN, Set.of(SessionPhase.CLOSED)),
          entry(ReadPhase.BETWEEN_STEPS, Set.of(ReadPhase.IN_STEP, ReadPhase.AFTER_BACKLOG)),
          entry(ReadPhase.IN_STEP, Set.of(ReadPhase.BETWEEN_STEPS)),
          entry(ReadPhase.AFTER_BACKLOG, Set.of(ReadPhase.BETWEEN_STEPS, ReadPhase.IN_STEP)),
          entry(WritePhase.WRITTEN, Set.of(WritePhase.DUE, WritePhase.LOCKED)),
          entry(WritePhase.DUE, Set.of(WritePhase.WRITTEN, WritePhase.LOCKED)),
          entry(WritePhase.LOCKED, Set.of(WritePhase.WRITTEN)));

  private final Observer observer;
  private Phase phase = Phase.ACTIVE;
  private SessionPhase session = SessionPhase.CLOSED;
  private ReadPhase reading;
  private WritePhase writing = WritePhase.WRITTEN;

  /** Receives every move. For tests. */
  @FunctionalInterface
  interface Observer {
    Observer NONE = (life, from, to) -> {};

    void moved(CursorLife life, Enum<?> from, Enum<?> to);
  }

  CursorLife(CursorPosition start, Observer observer) {
    this.reading = start.isInStep() ? ReadPhase.IN_STEP : ReadPhase.BETWEEN_STEPS;
    this.observer = observer;
  }

  private <S extends Enum<S>> S move(S from, S to) {
    if (from != to) {
      if (!Objects.requireNonNull(MOVES.get(from)).contains(to)) {
        throw new IllegalStateException(
            "A delivery cursor cannot move from %s to %s".formatted(from, to));
      }
      observer.moved(this, from, to);
    }
    return to;
  }

  /** Whether it may begin something: read, open a session or send. */
  boolean isActive() {
    return phase == Phase.ACTIVE;
  }

  boolean needsReload() {
    return phase == Phase.RELOADING || phase == Phase.STALE;
  }

  boolean isStale() {
    return phase == Phase.STALE;
  }

  boolean isEnded() {
    return phase == Phase.ENDED;
  }

  /** Its partition will be handed over. A cursor that begins nothing anyway stays as it is. */
  void leave() {
    if (phase == Phase.ACTIVE) {
      phase = move(phase, Phase.LEAVING);
    }
  }

  /** Goes on while the handover waits for another sink. */
  void stay() {
    if (phase == Phase.LEAVING) {
      phase = move(phase, Phase.ACTIVE);
    }
  }

  /** What is stored about it, or its sink, was changed. */
  void reload() {
    if (phase == Phase.ACTIVE || phase == Phase.LEAVING) {
      phase = move(phase, Phase.RELOADING);
    }
  }

  /** Its positions are invalid: the server restarted. */
  void expire() {
    if (phase != Phase.ENDED) {
      phase = move(phase, Phase.STALE);
    }
  }

  /** Nobody uses it any more. */
  void end() {
    phase = move(phase, Phase.ENDED);
  }

  boolean isOpening() {
    return session == SessionPhase.OPENING;
  }

  /** Returns whether a session must be opened now. */
  boolean beginOpening() {
    boolean begin = session == SessionPhase.CLOSED;
    if (begin) {
      session = move(session, SessionPhase.OPENING);
    }
    return begin;
  }

  void sessionOpened() {
    session = move(session, SessionPhase.OPEN);
  }

  void sessionClosed() {
    session = move(session, SessionPhase.CLOSED);
  }

  boolean isBetweenSteps() {
    return reading == ReadPhase.BETWEEN_STEPS;
  }

  /** New events were read, up to this position. */
  void readTo(CursorPosition position) {
    reading = move(reading, position.isInStep() ? ReadPhase.IN_STEP : ReadPhase.BETWEEN_STEPS);
  }

  /** A backlog was read; the next read is of new events. */
  void readBacklog() {
    reading = move(reading, ReadPhase.AFTER_BACKLOG);
  }

  boolean isLocked() {
    return writing == WritePhase.LOCKED;
  }

  /** Whether there is progress that should not wait for an idle moment. */
  boolean isWriteDue() {
    return writing != WritePhase.WRITTEN;
  }

  void progressed() {
    if (writing == WritePhase.WRITTEN) {
      writing = move(writing, WritePhase.DUE);
    }
  }

  /** Its progress is not written: another transaction holds a lock. */
  void locked() {
    writing = move(writing, WritePhase.LOCKED);
  }

  void written() {
    writing = move(writing, WritePhase.WRITTEN);
  }
}
