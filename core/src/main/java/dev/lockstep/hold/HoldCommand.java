package dev.lockstep.hold;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A command on a scope's stock. Each command names its result type, so {@link
 * Holds#submit(HoldCommand)} answers with exactly the outcomes that the command can have.
 */
public sealed interface HoldCommand<R extends HoldOutcome> {
  ScopeId scope();

  HoldId hold();

  /** The actor that asks. */
  Actor actor();

  /**
   * Takes a hold on all lines or on none.
   *
   * @param holdFor time until it expires, from 1 s to {@link HoldsConfig#maxHoldFor()}
   */
  record Acquire(
      ScopeId scope, HoldId hold, BuyerId buyer, List<Line> lines, Duration holdFor, Actor actor)
      implements HoldCommand<AcquireResult> {
    public Acquire {
      if (hold.equals(HoldId.NONE)) {
        throw new IllegalArgumentException(hold + " means 'no hold' and cannot be a hold's id");
      }
      lines = Lines.canonical(lines);
      requireAtLeastASecond(holdFor);
      if (!actor.mayTouch(buyer)) {
        throw new IllegalArgumentException("A buyer cannot acquire for another buyer");
      }
    }

    /** An acquire for a buyer, by that buyer. */
    public static Acquire of(
        ScopeId scope, HoldId hold, BuyerId buyer, List<Line> lines, Duration holdFor) {
      return new Acquire(scope, hold, buyer, lines, holdFor, Actor.buyer(buyer));
    }
  }

  /** Replaces the lines of a live cart, all or nothing; its expiry stays. */
  record Change(ScopeId scope, HoldId hold, List<Line> lines, Actor actor)
      implements HoldCommand<HoldChangeResult> {
    public Change {
      lines = Lines.canonical(lines);
    }
  }

  /**
   * Moves the expiry to {@code holdFor} from now, never beyond {@link HoldsConfig#maxLifetime()}.
   * Never shortens a hold.
   *
   * @param bound how often and how far the caller may extend; if empty, only the configuration
   *     limits it and the extension is not counted
   */
  record Extend(
      ScopeId scope, HoldId hold, Duration holdFor, Actor actor, Optional<ExtensionBound> bound)
      implements HoldCommand<ExtendResult> {
    public Extend {
      requireAtLeastASecond(holdFor);
    }

    /** An extension without a bound. */
    public Extend(ScopeId scope, HoldId hold, Duration holdFor, Actor actor) {
      this(scope, hold, holdFor, actor, Optional.empty());
    }
  }

  /**
   * Sells the hold.
   *
   * @param expected what was paid for. If the hold has anything else, it is not sold, and the
   *     answer is {@link HoldOutcome.LinesDiffer}. A line without units accepts any units of its
   *     pool. If empty, the hold is sold as it is
   */
  record Confirm(ScopeId scope, HoldId hold, Actor actor, List<Line> expected)
      implements HoldCommand<HoldEndResult> {
    public Confirm {
      expected = expected.isEmpty() ? List.of() : Lines.canonical(expected);
    }

    /** Sells the hold as it is. */
    public Confirm(ScopeId scope, HoldId hold, Actor actor) {
      this(scope, hold, actor, List.of());
    }
  }

  /** Gives the held stock back. */
  record Release(ScopeId scope, HoldId hold, Actor actor) implements HoldCommand<HoldEndResult> {}

  /**
   * Takes back a sold hold, or a part of it: that stock is free again and no longer counts against
   * the buyer's limit. The caller decides whether it may come back, and makes sure that a part
   * comes back once only: a repetition takes as much again.
   *
   * @param part what comes back of its lines; a line without units takes any of its pool. If empty,
   *     all of it
   */
  record Return(ScopeId scope, HoldId hold, Actor actor, List<Line> part)
      implements HoldCommand<ReturnResult> {
    public Return {
      part = part.isEmpty() ? List.of() : Lines.canonical(part);
    }

    /** Takes back all of it. */
    public Return(ScopeId scope, HoldId hold, Actor actor) {
      this(scope, hold, actor, List.of());
    }
  }

  private static void requireAtLeastASecond(Duration holdFor) {
    if (holdFor.compareTo(Duration.ofSeconds(1)) < 0) {
      throw new IllegalArgumentException("A hold must last at least 1 s, not " + holdFor);
    }
  }
}
