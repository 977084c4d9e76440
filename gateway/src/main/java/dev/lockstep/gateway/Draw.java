package dev.lockstep.gateway;

import dev.lockstep.gateway.GatewayFaults.Answers;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Which faults meet one request.
 *
 * @param faults what they were drawn from; waits are the same for all
 * @param declined the card does not pay
 * @param processing the card pays later
 * @param pendingRefund the refund is done later
 * @param loss how the answer gets lost
 */
record Draw(
    GatewayFaults faults, boolean declined, boolean processing, boolean pendingRefund, Loss loss) {

  enum Loss {
    NONE,
    ERROR_BEFORE,
    ERROR_AFTER,
    TIMEOUT,
    IDEMPOTENCY_ERROR
  }

  static Draw from(GatewayFaults faults) {
    return new Draw(
        faults,
        happens(faults.declineRate()),
        happens(faults.delays().processingRate()),
        happens(faults.delays().pendingRefundRate()),
        loss(faults.answers()));
  }

  /** For what only reads, and has no key that could be an error. */
  static Draw forReading(GatewayFaults faults) {
    Draw draw = from(faults);
    return draw.loss() == Loss.IDEMPOTENCY_ERROR
        ? new Draw(faults, false, false, false, Loss.NONE)
        : draw;
  }

  /** Nothing goes wrong. */
  static Draw nothing(GatewayFaults faults) {
    return new Draw(faults, false, false, false, Loss.NONE);
  }

  private static Loss loss(Answers answers) {
    if (happens(answers.errorBeforeRate())) {
      return Loss.ERROR_BEFORE;
    }
    if (happens(answers.errorAfterRate())) {
      return Loss.ERROR_AFTER;
    }
    if (happens(answers.timeoutRate())) {
      return Loss.TIMEOUT;
    }
    return happens(answers.idempotencyErrorRate()) ? Loss.IDEMPOTENCY_ERROR : Loss.NONE;
  }

  private static boolean happens(double rate) {
    return rate > 0 && ThreadLocalRandom.current().nextDouble() < rate;
  }
}
