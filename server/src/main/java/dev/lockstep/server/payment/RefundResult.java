package dev.lockstep.server.payment;

/** What became of a refund. */
public sealed interface RefundResult {

  /**
   * The money goes back.
   *
   * @param refund the provider's name of the refund
   */
  record Refunded(String refund, Money amount) implements RefundResult {}

  /** All of it went back before, under another key. */
  record AlreadyRefunded(IntentId intent) implements RefundResult {}

  /** Refused: nothing was received, or no such intent. */
  record Rejected(String code, String message) implements RefundResult {}

  /** It may have happened or not; ask again under the same key. */
  record Unknown(String reason) implements RefundResult {}
}
