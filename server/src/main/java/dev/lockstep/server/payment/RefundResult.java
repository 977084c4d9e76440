package dev.lockstep.server.payment;

/** The result of a refund. */
public sealed interface RefundResult {

  /**
   * All the money asked for went back.
   *
   * @param refund the provider's id of the refund
   */
  record Refunded(String refund, Money amount) implements RefundResult {}

  /** All of it went back earlier, under another key. */
  record AlreadyRefunded(IntentId intent) implements RefundResult {}

  /**
   * In progress: the money may go back or stay. Ask again.
   *
   * @param needsBuyer it waits for an action of the buyer
   */
  record Pending(String refund, boolean needsBuyer) implements RefundResult {}

  /**
   * It failed: we still have the money. Asking again tries again, a few times.
   *
   * @param attempts how often it was tried
   */
  record Failed(String refund, String code, int attempts) implements RefundResult {}

  /** Part of it, or other money, went back, and nothing more is on its way: a person must look. */
  record Differs(Money refunded) implements RefundResult {}

  /** Refused: nothing was received, or the intent is unknown. */
  record Rejected(String code, String message) implements RefundResult {}

  /** It may have happened or not; ask again under the same key. */
  record Unknown(String reason) implements RefundResult {}
}
