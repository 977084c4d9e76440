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
 * The lanes of a stream: how many of their jobs are kept at hand, and which closed lanes have to be
 * read by themselves. Each closed lane is one of these: it has enough at hand; it is <em>to be
 * read</em>; it is to be read at a <em>later</em> time, since its first job has to wait; or it has
 * its places taken and no room for more, and is to be read when one of its jobs ends. Guarded by
 * the board's lock.
 */
final class Lanes {
  /** Jobs of one lane kept at hand behind those that run; more are read when these are gone. */
  static final int MAX_WAITING = 64;

  /** The same of all lanes together, where there are many: other jobs need room, too. */
  static final int MAX_WAITING_OF_ALL = 1_000;

  private static final int MIN_WAITING = 2;
  // Who is woken for a lane is woken at about its time.
  private static final long EARLY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final Map<String, LaneState> lanes = new HashMap<>();
  private final Set<LaneState> toRead = new LinkedHashSet<>();
  private final Map<LaneState, Later> laterOf = new HashMap<>();
  private final TreeSet<Later> later = new TreeSet<>(Later.FIRST_FIRST);
  private int waiting;
  private long laters;

  /**
   * When a lane is to be read.
   *
   * @param number tells those of the same time apart
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
   * A pass begins at the first job of the stream. Closed lanes are read from their beginnings, too:
   * jobs may have appeared there, and one that waits may have been changed.
   *
   * @return how many lanes are to be read because of it
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

  /** Some closed lanes: what the pass need not be shown. */
  List<String> closed(int most) {
    return lanes.values().stream()
        .filter(LaneState::isClosed)
        .limit(most)
        .map(lane -> lane.name)
        .toList();
  }

  // ---- what is at hand

  private int share() {
    return Math.max(MIN_WAITING, Math.min(MAX_WAITING, MAX_WAITING_OF_ALL / lanes.size()));
  }

  /** Keeps a job at hand behind others of its lane; false, and closed, if there is no room. */
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

  // ---- what is to be read

  /** To be called when a job of the lane has ended: true if the lane is to be read now. */
  boolean isWanting(LaneState lane) {
    boolean room = lane.waiting() == 0 || waiting < MAX_WAITING_OF_ALL;
    if (lane.isClosed() && isLow(lane) && room && !laterOf.containsKey(lane)) {
      toRead.add(lane);
    }
    return toRead.contains(lane);
  }

  /** What is known of an idle lane the next read of it tells, too. */
  void forgetIfIdle(LaneState lane) {
    if (lane.isIdle()) {
      lanes.remove(lane.name);
    }
  }

  /** Little is left at hand. */
  private boolean isLow(LaneState lane) {
    return lane.waiting() < Math.max(1, share() / 4);
  }

  /** Gives up what waits: the lane is to be read from its beginning, at once or later. */
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

  /** The first of the lane has to wait, and the others for it. */
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

  boolean isHungry() {
    return !toRead.isEmpty();
  }

  /** In how many milliseconds the next is to be read that is not to be read now. */
  OptionalLong nextMs() {
    return later.isEmpty()
        ? OptionalLong.empty()
        : OptionalLong.of(
            Math.max(
                1, TimeUnit.NANOSECONDS.toMillis(later.first().nanos() - System.nanoTime()) + 1));
  }

  /** Those to be read now, in turn. They stay until they are {@link #wasRead}. */
  List<LaneState> toRead(int most) {
    while (!later.isEmpty() && later.first().nanos() - System.nanoTime() < EARLY_NANOS) {
      readNow(later.first().lane());
    }
    return new ArrayList<>(toRead.stream().limit(most).toList());
  }

  void wasRead(LaneState lane) {
    toRead.remove(lane);
  }

  /** It was read up to this row, and there is more. */
  void readOn(LaneState lane, JobRow row) {
    lane.closeAfter(row);
    if (isLow(lane)) {
      toRead.add(lane);
    }
  }
}
