package dev.lockstep.prove.check;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A pool, or one buyer's share of a scope, under calls that come one at a time. A hold is live
 * while HELD or SOLD; live holds together never have more than the capacity (0: no bound).
 */
final class StockModel implements Linearizer.Model {
  enum Kind {
    /** Grants or repeats a grant. */
    ACQUIRE,
    CHANGE,
    EXTEND,
    CONFIRM,
    RELEASE,
    RETURN,
    /** The time of a grant is up. */
    EXPIRE,
    /** Refused, because only so much was free. */
    REFUSED,
    /** Refused, because the hold had ended like this. */
    HAD_ENDED,
    /** Read at the end. */
    FINAL
  }

  /**
   * One call with its answer.
   *
   * @param quantity what the hold has afterwards, of this pool or in total
   * @param expiry what the answer names, or -1
   * @param fresh the answer says that something changed
   * @param certain the answer was seen
   * @param state the state that the answer names, or empty
   * @param free what a refusal names
   */
  record Step(
      Kind kind,
      String hold,
      int quantity,
      long expiry,
      boolean fresh,
      boolean certain,
      String state,
      long free) {}

  private record Held(String state, int quantity, long expiry) {
    boolean live() {
      return state.equals("HELD") || state.equals("SOLD");
    }

    Held as(String next) {
      return new Held(next, quantity, expiry);
    }
  }

  private record Before(String hold, @Nullable Held held) {}

  private final List<Step> steps;
  private final long capacity;
  private final boolean isPool;
  private final Map<String, Held> holds = new HashMap<>();
  private final Deque<Before> done = new ArrayDeque<>();
  private long taken;
  private long hash;

  StockModel(List<Step> steps, long capacity, boolean isPool) {
    this.steps = steps;
    this.isPool = isPool;
    this.capacity = capacity;
  }

  @Override
  public boolean apply(int call) {
    Step step = steps.get(call);
    Held held = holds.get(step.hold());
    Held next = next(step, held);
    if (next == null) {
      return false;
    }
    long after = taken - size(held) + size(next);
    if (capacity > 0 && after > capacity && after > taken) {
      return false;
    }
    done.push(new Before(step.hold(), held));
    put(step.hold(), next);
    return true;
  }

  private static final Held NOTHING = new Held("NONE", 0, -1);

  /** The hold after the call; null if the call cannot have ended like this. */
  private @Nullable Held next(Step step, @Nullable Held held) {
    String state = held == null ? "NONE" : held.state();
    Held same = held == null ? NOTHING : held;
    boolean isHeld = state.equals("HELD");
    return switch (step.kind()) {
      case ACQUIRE -> state.equals("NONE") ? granted(step) : step.fresh() ? null : same;
      case CHANGE -> isHeld ? new Held("HELD", step.quantity(), same.expiry()) : lost(step, same);
      case EXTEND -> isHeld ? extended(step, same) : lost(step, same);
      case CONFIRM -> ended(step, same, "SOLD");
      case RELEASE -> ended(step, same, "RELEASED");
      case RETURN ->
          state.equals("SOLD")
              ? same.as("RETURNED")
              : state.equals("RETURNED") && !step.fresh() ? same : lost(step, same);
      case EXPIRE -> isHeld && same.expiry() == step.expiry() ? same.as("EXPIRED") : same;
      case REFUSED -> free(held) == step.free() ? same : null;
      case HAD_ENDED -> state.equals(step.state()) ? same : null;
      case FINAL -> agrees(step, same) ? same : null;
    };
  }

  private Held granted(Step step) {
    return new Held("HELD", step.quantity(), step.expiry());
  }

  private static Held extended(Step step, Held same) {
    return step.expiry() < 0 ? same : new Held("HELD", same.quantity(), step.expiry());
  }

  private static @Nullable Held ended(Step step, Held same, String state) {
    if (same.state().equals("HELD")) {
      return same.as(state);
    }
    return same.state().equals(state) && !step.fresh() ? same : lost(step, same);
  }

  /** A call without an answer may have met a hold that had ended, and done nothing. */
  private static @Nullable Held lost(Step step, Held same) {
    return step.certain() ? null : same;
  }

  /** A hold read as HELD may be past its expiry and not ended yet. */
  private static boolean agrees(Step step, Held same) {
    String state = same.state();
    boolean due = step.state().equals("HELD") && state.equals("EXPIRED");
    return (state.equals(step.state()) || due)
        && (state.equals("NONE") || same.quantity() == step.quantity());
  }

  private long free(@Nullable Held own) {
    // A change may reuse what its cart has; a buyer's limit counts it.
    return capacity - taken + (isPool ? size(own) : 0);
  }

  private static long size(@Nullable Held held) {
    return held != null && held.live() ? held.quantity() : 0;
  }

  private void put(String hold, @Nullable Held next) {
    Held before = holds.get(hold);
    taken += size(next) - size(before);
    hash ^= mix(hold, before) ^ mix(hold, next);
    if (next == null) {
      holds.remove(hold);
    } else {
      holds.put(hold, next);
    }
  }

  private static long mix(String hold, @Nullable Held held) {
    if (held == null || held.equals(NOTHING)) {
      return 0;
    }
    long h = hold.hashCode() * 0x9E3779B97F4A7C15L + held.hashCode();
    h ^= h >>> 31;
    return h * 0xBF58476D1CE4E5B9L;
  }

  @Override
  public void undo(int call) {
    Before before = done.pop();
    put(before.hold(), before.held());
  }

  @Override
  public long fingerprint() {
    return hash;
  }
}
