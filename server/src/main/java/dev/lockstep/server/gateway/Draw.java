package dev.lockstep.server.gateway;

import dev.lockstep.server.gateway.GatewayFaults.Answers;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Which faults meet one request.
 *
 * @param faults what they were drawn from; waits are the same for all
 * @param declined the card does not pay
 * @param loss how the answer gets lost
 */
record Draw(GatewayFaults faults, boolean declined, Loss loss) {

  enum Loss {
    NONE,
    ERROR_BEFORE,
    ERROR_AFTER,
    TIMEOUT
  }

  static Draw from(GatewayFaults faults) {
    return new Draw(faults, happens(faults.declineRate()), loss(faults.answers()));
  }

  private static Loss loss(Answers answers) {
    if (happens(answers.errorBeforeRate())) {
      return Loss.ERROR_BEFORE;
    }
    if (happens(answers.errorAfterRate())) {
      return Loss.ERROR_AFTER;
    }
    return happens(answers.timeoutRate()) ? Loss.TIMEOUT : Loss.NONE;
  }

  private static boolean happens(double rate) {
    return rate > 0 && ThreadLocalRandom.current().nextDouble() < rate;
  }
}
