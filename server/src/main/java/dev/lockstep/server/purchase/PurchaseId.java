package dev.lockstep.server.purchase;

import dev.lockstep.hold.ScopeId;
import dev.lockstep.server.api.Problem;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A purchase's id: the campaign, a dot, and the id of its first hold. It leads to its shard without
 * a look-up.
 */
record PurchaseId(long campaign, UUID value) {
  private static final Pattern FORM =
      Pattern.compile("([1-9]\\d{0,17})\\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})");

  static Optional<PurchaseId> find(String text) {
    Matcher matcher = FORM.matcher(text);
    return matcher.matches()
        ? Optional.of(
            new PurchaseId(Long.parseLong(matcher.group(1)), UUID.fromString(matcher.group(2))))
        : Optional.empty();
  }

  static PurchaseId of(String text) {
    return find(text).orElseThrow(() -> unknown().asException());
  }

  static Problem unknown() {
    return Problem.notFound("such purchase");
  }

  ScopeId scope() {
    return new ScopeId(campaign);
  }

  @Override
  public String toString() {
    return campaign + "." + value;
  }
}
