package dev.lockstep.hold;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A hold's current content.
 *
 * @param lines one per pool, pools ascending
 * @param expiresAt on the database's clock
 * @param extensions how often it was extended under an {@link ExtensionBound}
 * @param end how it ended; empty while it is held. For a sold and returned hold: the return
 */
public record Hold(
    ScopeId scope,
    HoldId id,
    BuyerId buyer,
    HoldState state,
    List<HeldLine> lines,
    Instant createdAt,
    Instant expiresAt,
    int extensions,
    Optional<End> end) {

  public Hold {
    lines = List.copyOf(lines);
  }

  /** When a hold ended, and which actor ended it. */
  public record End(Instant at, String by) {}

  public int quantity() {
    return lines.stream().mapToInt(HeldLine::quantity).sum();
  }

  Hold ended(HoldState state, Instant at, String by) {
    return new Hold(
        scope,
        id,
        buyer,
        state,
        lines,
        createdAt,
        expiresAt,
        extensions,
        Optional.of(new End(at, by)));
  }

  Hold extended(Instant expiresAt, int extensions) {
    return new Hold(scope, id, buyer, state, lines, createdAt, expiresAt, extensions, end);
  }

  Hold withLines(List<HeldLine> lines) {
    return new Hold(scope, id, buyer, state, lines, createdAt, expiresAt, extensions, end);
  }
}
