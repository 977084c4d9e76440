package dev.lockstep.server.payment;

/** What became of a refund. */
public sealed interface RefundResult {

  /**
   * The money went back, all that was asked for.
   *
   * @param refund the provider's name of the refund
   */
  record Refunded(String refund, Money amount) implements RefundResult {}

  /** All of it went back before, under another key. */
  record AlreadyRefunded(IntentId intent) implements RefundResult {}

  /**
   * The provider is at it: the money may go back, or stay. Ask again.
   *
   * @param needsBuyer nothing happens before the buyer has done something for it
   */
  record Pending(String refund, boolean needsBuyer) implements RefundResult {}

  /**
   * It was tried, in vain: the money is with us still. Asking again tries again, a few times.
   *
   * @param attempts how often it was tried
   */
  record Failed(String refund, String code, int attempts) implements RefundResult {}

  /** Some of it went back, or other money, and nothing more is on its way: for a person. */
  record Differs(Money refunded) implements RefundResult {}

  /** Refused: nothing was received, or no such intent. */
  record Rejected(String code, String message) implements RefundResult {}

  /** It may have happened or not; ask again under the same key. */
  record Unknown(String reason) implements RefundResult {}
}
