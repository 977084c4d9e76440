package dev.lockstep.job;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Local times in a zone, and what happens to those that a change of the clocks leaves out or brings
 * twice. No two occurrences are at the same instant. Immutable.
 *
 * @param gap of a local time that does not exist on that day
 * @param overlap of a local time that comes twice on that day
 */
public record Recurrence(LocalTimes times, ZoneId zone, Gap gap, Overlap overlap) {
  public static final int MAX_PREVIEW = 1_000;
  // So many occurrences are walked through before it is asked how many there are.
  private static final int SHORT_WALK = 100;
  // A recurrence that has no time in so many changes of the clocks (two a year) has none at all.
  private static final int MAX_SEGMENTS = 200;

  /** A local time that is left out, as when clocks go forward. */
  public enum Gap {
    /** That run is dropped. */
    SKIP,
    /** It runs at the first instant after the gap; several times in one gap are one run. */
    NEXT
  }

  /** A local time that comes twice, as when clocks go back. */
  public enum Overlap {
    FIRST,
    LAST,
    BOTH
  }

  /** What is done about occurrences that were missed while nothing ran. */
  public enum CatchUp {
    /** Each of them, late. */
    ALL(0),
    /** The last of them. */
    LATEST(1),
    NONE(2);

    // As stored.
    private final int code;

    CatchUp(int code) {
      this.code = code;
    }

    int code() {
      return code;
    }

    static CatchUp of(int code) {
      for (CatchUp catchUp : values()) {
        if (catchUp.code == code) {
          return catchUp;
        }
      }
      throw new IllegalArgumentException("No policy has the code " + code);
    }
  }

  /**
   * One time it happens.
   *
   * @param local what was asked for, which in a gap is not what the clock shows
   */
  public record Occurrence(LocalDateTime local, Instant at) {}

  /**
   * What is to be done after some time away.
   *
   * @param run the missed occurrences that are to be run, in order
   * @param next the first that is not due yet
   */
  public record Due(List<Occurrence> run, Optional<Occurrence> next) {
    public Due {
      run = List.copyOf(run);
    }
  }

  /** The first occurrence after an instant; empty: none. */
  public Optional<Occurrence> next(Instant after) {
    ZoneRules rules = zone.getRules();
    Segment segment = new Segment(after, rules.getOffset(after), rules.nextTransition(after));
    LocalDateTime from = LocalDateTime.ofInstant(after, segment.offset());
    for (int i = 0; i < MAX_SEGMENTS; i++) {
      Optional<Occurrence> found = firstIn(segment, from, rules);
      ZoneOffsetTransition change = segment.end();
      if (found.isPresent() || change == null) {
        return found;
      }
      Optional<LocalDateTime> leftOut = leftOut(change);
      if (leftOut.isPresent()) {
        return Optional.of(new Occurrence(leftOut.get(), change.getInstant()));
      }
      Instant start = change.getInstant();
      segment = new Segment(start, change.getOffsetAfter(), rules.nextTransition(start));
      // The instant of the change itself belongs to what follows it.
      from = change.getDateTimeAfter().minusNanos(1);
    }
    return Optional.empty();
  }

  /** The next occurrences after an instant, at most {@link #MAX_PREVIEW}. */
  public List<Instant> preview(Instant after, int count) {
    if (count < 0 || count > MAX_PREVIEW) {
      throw new IllegalArgumentException("A preview has up to %d times".formatted(MAX_PREVIEW));
    }
    List<Instant> preview = new ArrayList<>();
    Optional<Occurrence> next = count == 0 ? Optional.empty() : next(after);
    while (next.isPresent()) {
      preview.add(next.get().at());
      next = preview.size() == count ? Optional.empty() : next(next.get().at());
    }
    return preview;
  }

  /**
   * What there is to do now. Takes no longer after a year away than after a day: however many were
   * missed, it looks at a few thousand of them.
   *
   * @param after the occurrence that was run last, or when it all began
   * @param limit of {@link CatchUp#ALL}: the last so many, so that a year of minutes does not come
   *     all at once
   */
  public Due due(Instant after, Instant now, CatchUp catchUp, int limit) {
    if (limit < 1 || limit > MAX_PREVIEW) {
      throw new IllegalArgumentException("The limit is 1 to %d".formatted(MAX_PREVIEW));
    }
    return switch (catchUp) {
      case ALL -> latest(after, now, limit);
      case LATEST -> latest(after, now, 1);
      case NONE -> new Due(List.of(), next(after.isAfter(now) ? after : now));
    };
  }

  /**
   * The last occurrences up to now. Walks from the start if they are few. If not, it looks for a
   * start from which they are enough and still few: first where they would be if they came evenly,
   * then by halving. No two occurrences share an instant, so there is such a start.
   */
  private Due latest(Instant after, Instant now, int wanted) {
    int most = 4 * wanted + SHORT_WALK;
    Instant tooMany = after;
    Instant tooFew = now;
    boolean halve = false;
    Walk walk = walk(after, now, wanted, most);
    while (!(walk.arrived() && (walk.seen() >= wanted || walk.from().equals(after)))) {
      Duration even = Duration.between(walk.from(), walk.to()).multipliedBy(2L * wanted);
      Instant start = now.minus(even.dividedBy(Math.max(1, walk.seen())));
      if (walk.arrived()) {
        tooFew = walk.from();
      } else {
        tooMany = walk.from();
      }
      if (halve || !start.isAfter(tooMany) || !start.isBefore(tooFew)) {
        start = tooMany.plus(Duration.between(tooMany, tooFew).dividedBy(2));
      }
      if (start.equals(tooMany)) {
        throw new IllegalStateException("Local times that depend on more than the time before");
      }
      halve = !halve;
      walk = walk(start, now, wanted, most);
    }
    return new Due(List.copyOf(walk.last()), walk.next());
  }

  /**
   * Occurrences one after the other.
   *
   * @param to where it ended
   * @param last the last of them
   * @param next the first after now, if it has arrived there
   */
  private record Walk(
      Instant from,
      Instant to,
      int seen,
      ArrayDeque<Occurrence> last,
      Optional<Occurrence> next,
      boolean arrived) {}

  private Walk walk(Instant from, Instant now, int wanted, int most) {
    ArrayDeque<Occurrence> last = new ArrayDeque<>();
    Instant at = from;
    for (int seen = 0; seen <= most; seen++) {
      Optional<Occurrence> next = next(at);
      if (next.isEmpty() || next.get().at().isAfter(now)) {
        return new Walk(from, at, seen, last, next, true);
      }
      at = next.get().at();
      last.add(next.get());
      if (last.size() > wanted) {
        last.remove();
      }
    }
    return new Walk(from, at, most + 1, last, Optional.empty(), false);
  }

  /** Time without a change of the clocks, in which local times and instants run side by side. */
  private record Segment(Instant start, ZoneOffset offset, @Nullable ZoneOffsetTransition end) {
    boolean contains(LocalDateTime local) {
      return end == null || local.isBefore(end.getDateTimeBefore());
    }
  }

  private Optional<Occurrence> firstIn(Segment segment, LocalDateTime from, ZoneRules rules) {
    Optional<LocalDateTime> local = times.next(from);
    while (local.isPresent() && segment.contains(local.get())) {
      if (isWanted(local.get(), segment.offset(), rules)) {
        return local.map(time -> new Occurrence(time, time.toInstant(segment.offset())));
      }
      local = times.next(local.get());
    }
    return Optional.empty();
  }

  /** Of a time that comes twice, whether this is the one. */
  private boolean isWanted(LocalDateTime local, ZoneOffset offset, ZoneRules rules) {
    List<ZoneOffset> offsets = rules.getValidOffsets(local);
    return offsets.size() < 2
        || switch (overlap) {
          case BOTH -> true;
          case FIRST -> offset.equals(offsets.get(0));
          case LAST -> offset.equals(offsets.get(1));
        };
  }

  /** A time in the gap, if there is one and it is to run after the gap. */
  private Optional<LocalDateTime> leftOut(ZoneOffsetTransition change) {
    return change.isGap() && gap == Gap.NEXT
        ? times
            .next(change.getDateTimeBefore().minusNanos(1))
            .filter(time -> time.isBefore(change.getDateTimeAfter()))
        : Optional.empty();
  }
}
