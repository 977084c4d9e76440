package dev.lockstep.server.reconciliation;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Something that does not agree.
 *
 * @param campaign 0: none is known
 * @param subject what it is about, and with campaign and kind its key: a purchase, hold, payment or
 *     refund
 * @param since when it came about, as far as that is known
 * @param detail what was found, in words an operator can act on
 */
record Finding(
    Kind kind,
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

  /** Of a purchase. */
  static Finding of(Kind kind, PurchaseFacts facts, Instant since, String detail) {
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

  /** Of a hold that belongs to no purchase. */
  static Finding ofHold(long campaign, UUID hold, String buyer, Instant since, String detail) {
    return new Finding(
        Kind.SOLD_UNPAID,
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

  /** As clients know a purchase or a hold. */
  static String id(long campaign, UUID id) {
    return campaign + "." + id;
  }

  /** What {@link #id} was made of. */
  static UUID uuid(String id) {
    return UUID.fromString(id.substring(id.indexOf('.') + 1));
  }
}
