package dev.lockstep.server.reconciliation;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A disagreement.
 *
 * @param campaign 0 if unknown
 * @param subject the purchase, hold, payment or refund it is about; with campaign and kind, its key
 * @param since when it arose, as far as known
 * @param detail what was found, in words an operator can act on
 */
record Finding(
    FindingKind kind,
    long campaign,
    String subject,
    @Nullable String purchase,
    @Nullable String hold,
    String buyer,
    @Nullable String payment,
    long amount,
    String currency,
    Instant since,
    String detail) {

  /** About a purchase. */
  static Finding of(FindingKind kind, PurchaseFacts facts, Instant since, String detail) {
    String purchase = id(facts.campaign(), facts.id());
    return new Finding(
        kind,
        facts.campaign(),
        purchase,
        purchase,
        id(facts.campaign(), facts.hold()),
        facts.buyer(),
        facts.intent(),
        facts.amount(),
        facts.currency(),
        since,
        detail);
  }

  /** About a hold without a purchase. */
  static Finding ofHold(long campaign, UUID hold, String buyer, Instant since, String detail) {
    return new Finding(
        FindingKind.SOLD_UNPAID,
        campaign,
        id(campaign, hold),
        null,
        id(campaign, hold),
        buyer,
        null,
        0,
        "",
        since,
        detail);
  }

  /** The id of a purchase or hold as clients know it. */
  static String id(long campaign, UUID id) {
    return campaign + "." + id;
  }

  /** The inverse of {@link #id}. */
  static UUID uuid(String id) {
    return UUID.fromString(id.substring(id.indexOf('.') + 1));
  }
}
