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
 * Local times in a zone, with rules for times that a clock change skips or repeats. No two
 * occurrences share an instant. Immutable.
 *
 * @param gap what to do about a local time that does not exist on that day
 * @param overlap what to do about a local time that comes twice on that day
 */
public record Recurrence(LocalTimes times, ZoneId zone, Gap gap, Overlap overlap) {
  public static final int MAX_PREVIEW = 1_000;
  // Occurrences to walk through before estimating how many there are.
  private static final int SHORT_WALK = 100;
  // No time within this many clock changes (two per year) means none at all.
  private static final int MAX_SEGMENTS = 200;

  /** A local time that a forward clock change skips. */
  public enum Gap {
    /** Drops the run. */
    SKIP,
    /** Runs at the first instant after the gap; several times in one gap become one run. */
    NEXT
  }

  /** A local time that a backward clock change repeats. */
  public enum Overlap {
    FIRST,
    LAST,
    BOTH
  }

  /** What to do about occurrences missed while no worker ran. */
  public enum CatchUp {
    /** Runs each of them, late. */
    ALL(0),
    /** Runs the last of them. */
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
   * One occurrence.
   *
   * @param local the local time asked for; in a gap the clock never shows it
   */
  public record Occurrence(LocalDateTime local, Instant at) {}

  /**
   * The occurrences to run now, and the next one.
   *
   * @param run the missed occurrences to run, in order
   * @param next the first that is not due yet
   */
  public record Due(List<Occurrence> run, Optional<Occurrence> next) {
    public Due {
      run = List.copyOf(run);
    }
  }

  /** Returns the first occurrence after an instant; empty if there is none. */
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
      // The instant of the change belongs to the segment after it.
      from = change.getDateTimeAfter().minusNanos(1);
    }
    return Optional.empty();
  }

  /** Lists the next occurrences after an instant, at most {@link #MAX_PREVIEW}. */
  public List<Instant> preview(Instant after, int count) {
    if (count < 0 || count > MAX_PREVIEW) {
      throw new IllegalArgumentException("A preview is limited to %d times".formatted(MAX_PREVIEW));
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
   * Returns the runs due now. The cost is bounded: it looks at a few thousand occurrences, however
   * many were missed.
   *
   * @param after the occurrence that ran last, or when the schedule began
   * @param limit for {@link CatchUp#ALL}: only the last this many run
   */
  public Due due(Instant after, Instant now, CatchUp catchUp, int limit) {
    if (limit < 1 || limit > MAX_PREVIEW) {
      throw new IllegalArgumentException("limit must be 1 to %d".formatted(MAX_PREVIEW));
    }
    return switch (catchUp) {
      case ALL -> latest(after, now, limit);
      case LATEST -> latest(after, now, 1);
      case NONE -> new Due(List.of(), next(after.isAfter(now) ? after : now));
    };
  }

  /**
   * Returns the last occurrences up to now. If they are few, it walks from the start. If not, it
   * searches for a start that leaves enough but not too many, in turn by assuming even spacing and
   * by halving. No two occurrences share an instant, so such a start exists.
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
        throw new IllegalStateException(
            "LocalTimes.next depends on more than its argument; fix the implementation");
      }
      halve = !halve;
      walk = walk(start, now, wanted, most);
    }
    return new Due(List.copyOf(walk.last()), walk.next());
  }

  /**
   * A walk over successive occurrences.
   *
   * @param to where it ended
   * @param last the last of them
   * @param next the first after now, if the walk arrived there
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

  /** A time span with a constant offset. */
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

  /** Whether this offset is the wanted one of a time that comes twice. */
  private boolean isWanted(LocalDateTime local, ZoneOffset offset, ZoneRules rules) {
    List<ZoneOffset> offsets = rules.getValidOffsets(local);
    return offsets.size() < 2
        || switch (overlap) {
          case BOTH -> true;
          case FIRST -> offset.equals(offsets.get(0));
          case LAST -> offset.equals(offsets.get(1));
        };
  }

  /** The first local time in the gap, if the policy is {@link Gap#NEXT}. */
  private Optional<LocalDateTime> leftOut(ZoneOffsetTransition change) {
    return change.isGap() && gap == Gap.NEXT
        ? times
            .next(change.getDateTimeBefore().minusNanos(1))
            .filter(time -> time.isBefore(change.getDateTimeAfter()))
        : Optional.empty();
  }
}
