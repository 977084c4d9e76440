package dev.lockstep.gateway;

import dev.lockstep.gateway.GatewayFaults.Answers;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The faults of one request.
 *
 * @param faults what they were drawn from; it also has the waits, which are not drawn
 * @param declined the card does not pay
 * @param processing the card pays later
 * @param pendingRefund the refund is done later
 * @param loss how its answer gets lost
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

  /** For a request that only reads: it has no idempotency key that could be refused. */
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
