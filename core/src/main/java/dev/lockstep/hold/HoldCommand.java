package dev.lockstep.hold;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What can be asked of a scope's stock. Each command names its result type, so that {@link
 * Holds#submit(HoldCommand)} answers with exactly the outcomes the command can have.
 */
public sealed interface HoldCommand<R extends HoldOutcome> {
  ScopeId scope();

  HoldId hold();

  /** Who asks. */
  Actor actor();

  /**
   * Takes a hold on all lines or on none.
   *
   * @param holdFor until it expires, from 1 s to {@link HoldsConfig#maxHoldFor()}
   */
  record Acquire(
      ScopeId scope, HoldId hold, BuyerId buyer, List<Line> lines, Duration holdFor, Actor actor)
      implements HoldCommand<AcquireResult> {
    public Acquire {
      if (hold.equals(HoldId.NONE)) {
        throw new IllegalArgumentException(hold + " stands for no hold; it cannot be one's id");
      }
      lines = Lines.canonical(lines);
      requireAtLeastASecond(holdFor);
      if (!actor.mayTouch(buyer)) {
        throw new IllegalArgumentException("A buyer cannot acquire for another buyer");
      }
    }

    /** For a buyer, by that buyer. */
    public static Acquire of(
        ScopeId scope, HoldId hold, BuyerId buyer, List<Line> lines, Duration holdFor) {
      return new Acquire(scope, hold, buyer, lines, holdFor, Actor.buyer(buyer));
    }
  }

  /** Replaces the lines of a live cart, all or nothing; its expiry stays. */
  record Change(ScopeId scope, HoldId hold, List<Line> lines, Actor actor)
      implements HoldCommand<ChangeResult> {
    public Change {
      lines = Lines.canonical(lines);
    }
  }

  /**
   * Moves the expiry to so long from now, never beyond {@link HoldsConfig#maxLifetime()}.
   *
   * @param bound how often and how far the caller may extend; empty: as the configuration allows,
   *     and it does not count
   */
  record Extend(
      ScopeId scope, HoldId hold, Duration holdFor, Actor actor, Optional<ExtensionBound> bound)
      implements HoldCommand<ExtendResult> {
    public Extend {
      requireAtLeastASecond(holdFor);
    }

    /** Without a bound of its own. */
    public Extend(ScopeId scope, HoldId hold, Duration holdFor, Actor actor) {
      this(scope, hold, holdFor, actor, Optional.empty());
    }
  }

  /**
   * Turns what is held into what is sold.
   *
   * @param expected what was paid for: a hold that has anything else is not sold, and answered with
   *     {@link HoldOutcome.LinesDiffer}. A line that names no units expects any of its pool. Empty:
   *     whatever it has is sold
   */
  record Confirm(ScopeId scope, HoldId hold, Actor actor, List<Line> expected)
      implements HoldCommand<EndResult> {
    public Confirm {
      expected = expected.isEmpty() ? List.of() : Lines.canonical(expected);
    }

    /** Whatever it has. */
    public Confirm(ScopeId scope, HoldId hold, Actor actor) {
      this(scope, hold, actor, List.of());
    }
  }

  /** Gives back what is held. */
  record Release(ScopeId scope, HoldId hold, Actor actor) implements HoldCommand<EndResult> {}

  /**
   * Takes back what was sold: it is free again, and no longer counts against the buyer's limit.
   * Whether it may come back is for the caller to know.
   */
  record Return(ScopeId scope, HoldId hold, Actor actor) implements HoldCommand<ReturnResult> {}

  private static void requireAtLeastASecond(Duration holdFor) {
    if (holdFor.compareTo(Duration.ofSeconds(1)) < 0) {
      throw new IllegalArgumentException("A hold lasts at least 1 s, not " + holdFor);
    }
  }
}
