package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What becomes of draws as they are often written; {@link OneDrawTest} has ours. */
class NaiveDrawTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  /** E7. */
  @Test
  void countingAtReservationDrawsOnPositionsThatNobodyPaidFor() throws Exception {
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      NaiveDraw naive = NaiveDraw.opened(connection, 3);
      naive.reserve(1);
      naive.reserve(2);
      naive.reserve(3);
      naive.release(3); // declined: the position is free again, the count is not
      naive.pay(1);
      naive.pay(2);
      assertThat(naive.drawIsDue()).isTrue();
      assertThat(naive.paid()).isEqualTo(2);
    }
  }

  /** E9. */
  @Test
  void aLockOnThirtyTwoBitsKeepsAnotherCampaignFromItsDraw() throws Exception {
    try (Connection first = database.connection();
        Connection second = database.connection()) {
      assertThat(NaiveDraw.tryLock(first, "campaign-1174")).isTrue();
      // Another campaign, whose MD5 begins alike: "already in progress", and nobody comes back.
      assertThat(NaiveDraw.tryLock(second, "campaign-17080")).isFalse();
      assertThat(NaiveDraw.unlock(first, "campaign-1174")).isTrue();
    }
  }

  /** E9: a transaction-mode pooler gives each transaction a session, not always the same one. */
  @Test
  void aSessionLockIsStrandedWhenAnotherSessionUnlocks() throws Exception {
    try (Connection one = database.connection();
        Connection another = database.connection()) {
      assertThat(NaiveDraw.tryLock(one, "campaign-1")).isTrue();
      assertThat(NaiveDraw.unlock(another, "campaign-1")).isFalse();
      assertThat(NaiveDraw.tryLock(another, "campaign-1")).isFalse();
      assertThat(NaiveDraw.unlock(one, "campaign-1")).isTrue();
    }
  }
}
