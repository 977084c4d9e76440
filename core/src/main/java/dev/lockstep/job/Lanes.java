package dev.lockstep.job;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The lanes of a stream: how many of their jobs are kept in memory, and which closed lanes need a
 * separate read. A closed lane has enough jobs in memory, or is <em>to be read</em> now, or
 * <em>later</em> (its first job must wait), or waits for one of its jobs to end (its places are
 * taken, and there is no room for more). Guarded by the memory's lock.
 */
final class Lanes {
  /** Jobs of one lane kept in memory behind those that run; more are read when few are left. */
  static final int MAX_WAITING = 64;

  /** The same for all lanes together: other jobs need room too. */
  static final int MAX_WAITING_OF_ALL = 1_000;

  private static final int MIN_WAITING = 2;
  // The reader wakes at about a lane's time, not exactly.
  private static final long EARLY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final Map<String, LaneState> lanes = new HashMap<>();
  private final Set<LaneState> toRead = new LinkedHashSet<>();
  private final Map<LaneState, Later> laterOf = new HashMap<>();
  private final TreeSet<Later> later = new TreeSet<>(Later.FIRST_FIRST);
  private int waiting;
  private long laters;

  /**
   * When to read a lane.
   *
   * @param number tells entries with the same time apart
   */
  private record Later(LaneState lane, long nanos, long number) {
    static final Comparator<Later> FIRST_FIRST =
        ((Comparator<Later>) (a, b) -> Long.signum(a.nanos() - b.nanos()))
            .thenComparingLong(Later::number);
  }

  LaneState get(String name) {
    return lanes.computeIfAbsent(name, LaneState::new);
  }

  /**
   * Starts a pass at the first job of the stream. Closed lanes are read from their beginnings too:
   * jobs may have appeared there, and a waiting job may have been changed.
   *
   * @return how many lanes need a read because of it
   */
  int startPass() {
    lanes.values().removeIf(LaneState::isIdle);
    for (LaneState lane : lanes.values()) {
      if (lane.isClosed()) {
        lane.closeFromBeginning();
        if (laterOf.containsKey(lane)) {
          readNow(lane);
        }
      }
    }
    return toRead.size();
  }

  /** Some closed lanes, which the pass can leave out. */
  List<String> closed(int most) {
    return lanes.values().stream()
        .filter(LaneState::isClosed)
        .limit(most)
        .map(lane -> lane.name)
        .toList();
  }

  // ---- jobs in memory

  private int share() {
    return Math.max(MIN_WAITING, Math.min(MAX_WAITING, MAX_WAITING_OF_ALL / lanes.size()));
  }

  /**
   * Keeps a job in memory behind others of its lane. If there is no room, closes the lane and
   * returns false.
   */
  boolean queue(LaneState lane, Task task) {
    if (lane.waiting() >= share() || waiting >= MAX_WAITING_OF_ALL) {
      lane.closeAfterLast();
      return false;
    }
    lane.queue(task);
    waiting++;
    return true;
  }

  void promote(LaneState lane, Consumer<Task> promoted) {
    while (lane.hasPlace()) {
      waiting--;
      promoted.accept(lane.promote());
    }
  }

  // ---- lanes to read

  /** Call when a job of the lane has ended. Returns true if the lane must be read now. */
  boolean needsRead(LaneState lane) {
    boolean room = lane.waiting() == 0 || waiting < MAX_WAITING_OF_ALL;
    if (lane.isClosed() && isLow(lane) && room && !laterOf.containsKey(lane)) {
      toRead.add(lane);
    }
    return toRead.contains(lane);
  }

  /** An idle lane's state can be dropped: the next read restores it. */
  void forgetIfIdle(LaneState lane) {
    if (lane.isIdle()) {
      lanes.remove(lane.name);
    }
  }

  /** Whether few of its jobs are left in memory. */
  private boolean isLow(LaneState lane) {
    return lane.waiting() < Math.max(1, share() / 4);
  }

  /** Drops the waiting jobs and schedules a read of the lane from its beginning, now or later. */
  ArrayDeque<Task> readAgain(LaneState lane, long inMs) {
    waiting -= lane.waiting();
    ArrayDeque<Task> givenUp = lane.giveUpWaiting();
    if (inMs <= 0) {
      readNow(lane);
    } else {
      readLater(lane, inMs);
    }
    return givenUp;
  }

  /** The lane's first job must wait, and the others wait for it. */
  void await(LaneState lane, long ms) {
    lane.closeFromBeginning();
    readLater(lane, ms);
  }

  private void readNow(LaneState lane) {
    forgetLater(lane);
    toRead.add(lane);
  }

  private void readLater(LaneState lane, long inMs) {
    forgetLater(lane);
    toRead.remove(lane);
    long nanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Math.min(inMs, 86_400_000));
    Later next = new Later(lane, nanos, laters++);
    later.add(next);
    laterOf.put(lane, next);
  }

  private void forgetLater(LaneState lane) {
    Later before = laterOf.remove(lane);
    if (before != null) {
      later.remove(before);
    }
  }

  boolean needsRead() {
    return !toRead.isEmpty();
  }

  /** Milliseconds until the next lane is due to be read. */
  OptionalLong nextMs() {
    return later.isEmpty()
        ? OptionalLong.empty()
        : OptionalLong.of(
            Math.max(
                1, TimeUnit.NANOSECONDS.toMillis(later.first().nanos() - System.nanoTime()) + 1));
  }

  /** The lanes to read now, in turn. They stay listed until {@link #wasRead}. */
  List<LaneState> toRead(int most) {
    while (!later.isEmpty() && later.first().nanos() - System.nanoTime() < EARLY_NANOS) {
      readNow(later.first().lane());
    }
    return new ArrayList<>(toRead.stream().limit(most).toList());
  }

  void wasRead(LaneState lane) {
    toRead.remove(lane);
  }

  /** The lane was read up to this row, and there is more. */
  void readOn(LaneState lane, JobRow row) {
    lane.closeAfter(row);
    if (isLow(lane)) {
      toRead.add(lane);
    }
  }
}
