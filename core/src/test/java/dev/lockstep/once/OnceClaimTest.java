package dev.lockstep.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.LockTimeout;
import dev.lockstep.once.Claim.Answered;
import dev.lockstep.once.Claim.Fresh;
import dev.lockstep.once.Claim.InUse;
import dev.lockstep.once.Claim.Reused;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys claimed on the caller's connection: who waits, who is told, and whose the key is then. */
class OnceClaimTest {
  private static final OnceKey KEY = new OnceKey(1, "alice", "order-1");
  private static final Fingerprint BODY = Fingerprint.of("ten");
  private static final Fingerprint OTHER_BODY = Fingerprint.of("eleven");

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private final Transactor transactor = new Transactor(database.dataSource());
  private final Once once = new Once(transactor);
  private Charges charges;

  @BeforeEach
  void noCharges() {
    charges = new Charges(database);
  }

  @Test
  void aClaimWaitsForItsTwinAndGetsItsAnswer() throws Exception {
    try (Connection first = transaction()) {
      Fresh claim = (Fresh) once.claim(first, KEY, BODY);
      Background<Claim> twin = Background.start(() -> claimAndCommit(BODY));
      Background<Claim> other = Background.start(() -> claimAndCommit(OTHER_BODY));
      Await.blocked(database, 2);

      String answer = charges.charge(first, KEY.key());
      once.answer(first, claim, answer);
      first.commit();

      assertThat(twin.result()).isEqualTo(new Answered(answer));
      assertThat(other.result()).isEqualTo(new Reused());
    }
  }

  @Test
  void aClaimIsFreshWhenItsTwinRolledBack() throws Exception {
    try (Connection first = transaction()) {
      Fresh claim = (Fresh) once.claim(first, KEY, BODY);
      charges.charge(first, KEY.key());
      once.answer(first, claim, "never told");
      Background<Claim> twin = Background.start(() -> claimAndCommit(BODY));
      Await.blocked(database, 1);

      first.rollback();

      assertThat(twin.result()).isInstanceOf(Fresh.class);
      assertThat(charges.count()).isZero();
    }
  }

  @Test
  void aClaimWaitsNoLongerThanTheLockTimeout() throws SQLException {
    try (Connection first = transaction();
        Connection second = transaction()) {
      once.claim(first, KEY, BODY);
      Sql.execute(second, "SET LOCAL lock_timeout = '20ms'");

      assertThatThrownBy(() -> once.claim(second, KEY, BODY)).isInstanceOf(LockTimeout.class);
    }
  }

  @Test
  void whoClaimsNowIsToldAtOnceThatATwinIsAtItAndGoesOn() throws SQLException {
    try (Connection first = transaction();
        Connection second = transaction()) {
      once.claim(first, KEY, BODY);
      Sql.execute(second, "SET LOCAL lock_timeout = '7s'");
      charges.charge(second, "before");

      assertThat(once.claimNow(second, KEY, BODY)).isEqualTo(new InUse());
      assertThat(once.claimNow(second, KEY, OTHER_BODY)).isEqualTo(new InUse());

      assertThat(Sql.text(second, "SHOW lock_timeout")).isEqualTo("7s");
      charges.charge(second, "after");
      second.commit();
      assertThat(charges.count("before")).isEqualTo(1);
      assertThat(charges.count("after")).isEqualTo(1);
    }
  }

  @Test
  void whoClaimsNowGetsAFreeKeyAndKeepsTheLockTimeout() throws SQLException {
    try (Connection connection = transaction()) {
      Sql.execute(connection, "SET LOCAL lock_timeout = '7s'");

      Fresh claim = (Fresh) once.claimNow(connection, KEY, BODY);

      assertThat(Sql.text(connection, "SHOW lock_timeout")).isEqualTo("7s");
      once.answer(connection, claim, charges.charge(connection, KEY.key()));
      connection.commit();
      assertThat(Sql.text(connection, "SHOW lock_timeout")).as("of the session").isEqualTo("0");
    }
    assertThat(charges.count()).isEqualTo(1);
  }

  /** As for an index that is being built. */
  @Test
  void aLockOnTheWholeTableIsNoTwin() throws Exception {
    try (Connection locking = transaction();
        Connection hurried = transaction()) {
      Sql.execute(locking, "LOCK TABLE lockstep.once IN SHARE MODE");
      Sql.execute(hurried, "SET LOCAL lock_timeout = '20ms'");
      assertThatThrownBy(() -> once.claimNow(hurried, KEY, BODY)).isInstanceOf(LockTimeout.class);

      Background<Claim> patient =
          Background.start(() -> transactor.call(c -> once.claimNow(c, KEY, BODY)));
      Await.blocked(database, 1);
      locking.rollback();

      assertThat(patient.result()).isInstanceOf(Fresh.class);
    }
  }

  @Test
  void whoClaimsNowGetsTheAnswerOrTheRefusalOfAFinishedKey() {
    once.call(KEY, BODY, connection -> "done");

    transactor.run(
        connection -> {
          assertThat(once.claimNow(connection, KEY, BODY)).isEqualTo(new Answered("done"));
          assertThat(once.claimNow(connection, KEY, OTHER_BODY)).isEqualTo(new Reused());
        });
  }

  @Test
  void aKeyIsInUseFromTheTransactionThatClaimsItToTheOneThatAnswers() {
    Fresh claim = (Fresh) claimAndCommit(BODY);

    assertThat(claimAndCommit(BODY)).isEqualTo(new InUse());
    assertThat(claimAndCommit(OTHER_BODY)).isEqualTo(new Reused());
    assertThat(once.call(KEY, BODY, connection -> "again")).isEqualTo(new Claim.InUse());
    transactor.run(
        connection -> {
          assertThat(once.claimNow(connection, KEY, BODY)).isEqualTo(new InUse());
          assertThat(once.find(connection, 1, Map.of(KEY, BODY)))
              .isEqualTo(Map.of(KEY, new InUse()));
        });

    transactor.run(connection -> once.answer(connection, claim, "paid"));
    assertThat(claimAndCommit(BODY)).isEqualTo(new Answered("paid"));
  }

  @Test
  void aClaimWaitsForAnAnswerThatIsBeingWritten() throws Exception {
    Fresh claim = (Fresh) claimAndCommit(BODY);
    try (Connection answering = transaction();
        Connection now = transaction()) {
      once.answer(answering, claim, "paid");
      assertThat(once.claimNow(now, KEY, BODY)).isEqualTo(new InUse());
      Background<Claim> twin = Background.start(() -> claimAndCommit(BODY));
      Await.blocked(database, 1);

      answering.commit();

      assertThat(twin.result()).isEqualTo(new Answered("paid"));
    }
  }

  @Test
  void aKeyIsAnsweredOnlyOnceAndOnlyIfItIsClaimed() {
    assertRefused(new Fresh(KEY, Instant.EPOCH), "nobody has claimed it");

    Fresh claim = (Fresh) claimAndCommit(BODY);
    transactor.run(connection -> once.answer(connection, claim, "first"));

    assertRefused(claim, "second");
    assertThat(claimAndCommit(BODY)).isEqualTo(new Answered("first"));
  }

  @Test
  void aClaimThatHasExpiredCannotBeAnsweredBecauseItMayBeSomebodyElses() {
    Fresh claim = (Fresh) claimAndCommit(BODY);
    database.execute("UPDATE lockstep.once SET expires_at = now()");

    assertRefused(claim, "too late");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whoseClaimHasExpiredCannotAnswerForTheNextWhoClaimedTheKey(boolean sameRequest) {
    Fresh expired = (Fresh) claimAndCommit(BODY);
    database.execute("UPDATE lockstep.once SET expires_at = now()");
    Fingerprint body = sameRequest ? BODY : OTHER_BODY;
    Fresh next = (Fresh) claimAndCommit(body);

    assertRefused(expired, "of the first");

    transactor.run(connection -> once.answer(connection, next, "of the second"));
    assertThat(claimAndCommit(body)).isEqualTo(new Answered("of the second"));
  }

  @Test
  void ofTwoWhoClaimAnExpiredKeyOneGetsItAndTheOtherItsAnswer() throws Exception {
    once.call(KEY, BODY, connection -> "yesterday");
    database.execute("UPDATE lockstep.once SET expires_at = now()");
    try (Connection first = transaction();
        Connection now = transaction()) {
      Fresh claim = (Fresh) once.claim(first, KEY, BODY);
      assertThat(once.claimNow(now, KEY, BODY)).isEqualTo(new InUse());
      Background<Claim> twin = Background.start(() -> claimAndCommit(BODY));
      Await.blocked(database, 1);

      once.answer(first, claim, "today");
      first.commit();

      assertThat(twin.result()).isEqualTo(new Answered("today"));
    }
  }

  @Test
  void aKeyThatIsRemovedWhileItIsBeingClaimedIsFresh() throws Exception {
    once.call(KEY, BODY, connection -> "yesterday");
    database.execute("UPDATE lockstep.once SET expires_at = now()");
    try (Connection removing = transaction();
        Connection claiming = transaction()) {
      // Locked but not yet deleted: the claim finds the key taken and then waits to take it over.
      Sql.execute(removing, "SELECT FROM lockstep.once FOR UPDATE");
      Background<Claim> claim = Background.start(() -> once.claim(claiming, KEY, BODY));
      Await.blocked(database, 1);

      Sql.execute(removing, "DELETE FROM lockstep.once");
      removing.commit();

      assertThat(claim.result()).isInstanceOf(Fresh.class);
    }
  }

  @Test
  void aConnectionInAutoCommitModeIsRefusedBecauseNothingWouldTieTheKeyToItsEffect()
      throws SQLException {
    try (Connection connection = database.connection()) {
      assertThatThrownBy(() -> once.claim(connection, KEY, BODY))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  private Claim claimAndCommit(Fingerprint body) {
    return transactor.call(connection -> once.claim(connection, KEY, body));
  }

  private void assertRefused(Fresh claim, String answer) {
    assertThatThrownBy(() -> transactor.run(connection -> once.answer(connection, claim, answer)))
        .isInstanceOf(IllegalStateException.class);
  }

  /** Rolled back when it is closed, unless it was committed. */
  private static Connection transaction() throws SQLException {
    Connection connection = database.connection();
    connection.setAutoCommit(false);
    return connection;
  }
}
