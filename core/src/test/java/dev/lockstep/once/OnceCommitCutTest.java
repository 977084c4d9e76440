package dev.lockstep.once;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.once.Claim.InUse;
import dev.lockstep.once.Claim.Reused;
import dev.lockstep.once.OnceResult.Completed;
import dev.lockstep.testkit.CommitFault;
import dev.lockstep.testkit.CommitFault.Moment;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Tampered;
import dev.lockstep.tx.Transactor;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** G3 when the connection is lost at COMMIT: the key tells what has happened. */
class OnceCommitCutTest {
  private static final OnceKey KEY = new OnceKey(1, "alice", "order-1");
  private static final Fingerprint BODY = Fingerprint.of("ten");
  private static final Fingerprint OTHER_BODY = Fingerprint.of("eleven");

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private Charges charges;
  private CommitFault fault;
  private Once once;

  @BeforeEach
  void aFaultyWayToTheDatabase() {
    charges = new Charges(database);
    fault = CommitFault.on(database);
    once = new Once(new Transactor(fault.dataSource()));
  }

  @AfterEach
  void closeFault() {
    fault.close();
  }

  @ParameterizedTest
  @EnumSource
  void theEffectHappensOnceAndTheCallerGetsItsAnswer(Moment moment) {
    fault.arm(moment);

    Completed done = (Completed) charge(once, BODY);

    assertThat(fault.fired()).isTrue();
    assertThat(done.replayed()).isFalse();
    assertThat(charges.count()).isEqualTo(1);
    assertThat(charge(once, BODY)).isEqualTo(new Completed(done.answer(), true));
    assertThat(charges.count()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void callersAtOnceOfWhomOneLosesItsCommitGetOneAnswer(Moment moment) throws InterruptedException {
    fault.arm(moment);

    List<Completed> done =
        Race.<Completed>of(10).run(caller -> (Completed) charge(once, BODY)).valuesOrThrow();

    assertThat(fault.fired()).isTrue();
    assertThat(charges.count()).isEqualTo(1);
    assertThat(done.stream().map(Completed::answer).distinct()).hasSize(1);
    assertThat(done.stream().filter(result -> !result.replayed())).hasSize(1);
  }

  @ParameterizedTest
  @EnumSource
  void aReplayThatLosesItsCommitIsStillAReplay(Moment moment) {
    Completed first = (Completed) charge(once, BODY);
    fault.arm(moment);

    assertThat(charge(once, BODY)).isEqualTo(new Completed(first.answer(), true));
    assertThat(fault.fired()).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void aRefusalThatLosesItsCommitIsStillARefusal(Moment moment) {
    charge(once, BODY);
    fault.arm(moment);

    assertThat(charge(once, OTHER_BODY)).isEqualTo(new Reused());
    assertThat(fault.fired()).isTrue();
    assertThat(charges.count()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void whoIsToldThatTheKeyIsInUseIsToldSoDespiteALostCommit(Moment moment) {
    new Transactor(database.dataSource())
        .run(connection -> assertThat(once.claim(connection, KEY, BODY)).isNotNull());
    fault.arm(moment);

    assertThat(charge(once, BODY)).isEqualTo(new InUse());
    assertThat(fault.fired()).isTrue();
  }

  @Test
  void aTwinThatIsFasterWhileTheCallerLooksIsNotTakenForTheCaller() {
    Once twin = new Once(new Transactor(database.dataSource()));
    AtomicReference<OnceResult> twins = new AtomicReference<>();
    AtomicInteger connections = new AtomicInteger();
    // The second connection is the one that looks for the effect of the first.
    DataSource gated =
        Tampered.gated(
            fault.dataSource(),
            () -> {
              if (connections.incrementAndGet() == 2) {
                twins.set(charge(twin, BODY));
              }
            });
    fault.arm(Moment.BEFORE_COMMIT);

    Completed callers = (Completed) charge(new Once(new Transactor(gated)), BODY);

    assertThat(fault.fired()).isTrue();
    assertThat(charges.count()).isEqualTo(1);
    assertThat(twins.get()).isEqualTo(new Completed(callers.answer(), false));
    assertThat(callers.replayed()).isTrue();
  }

  private OnceResult charge(Once node, Fingerprint body) {
    return node.call(KEY, body, connection -> charges.charge(connection, KEY.key()));
  }
}
