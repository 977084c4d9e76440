package dev.lockstep.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.once.OnceResult.Completed;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What goes wrong when a key is not a row in its effect's transaction, and that it does not go
 * wrong when it is.
 */
class NaiveIdempotencyTest {
  private static final OnceKey KEY = new OnceKey(1, "alice", "order-1");
  private static final Fingerprint BODY = Fingerprint.of("ten");

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private final Transactor transactor =
      new Transactor(database.dataSource(), Await.PATIENTLY, attempt -> {});
  private final Once once = new Once(transactor);
  private Charges charges;

  @BeforeEach
  void noCharges() {
    charges = new Charges(database);
  }

  @Test
  void checkingBeforeActingDoublesTheEffectOfTwoWhoCheckAtOnce() throws InterruptedException {
    CyclicBarrier bothHaveChecked = new CyclicBarrier(2);

    Race.<String>of(2)
        .run(
            caller ->
                transactor.call(
                    connection -> {
                      if (Sql.query(connection, "SELECT count(*) FROM charge") > 0) {
                        return "charged already";
                      }
                      await(bothHaveChecked);
                      return charges.charge(connection, KEY.key());
                    }))
        .valuesOrThrow();

    assertThat(charges.count()).isEqualTo(2);
  }

  @Test
  void withTheKeyClaimedFirstTheOneWhoComesSecondNeverGetsToAct() throws Exception {
    try (Connection first = database.connection()) {
      first.setAutoCommit(false);
      Claim.Fresh claim = (Claim.Fresh) once.claim(first, KEY, BODY);
      Background<OnceResult> second = Background.start(this::charge);
      Await.blocked(database, 1);

      String answer = charges.charge(first, KEY.key());
      once.answer(first, claim, answer);
      first.commit();

      assertThat(second.result()).isEqualTo(new Completed(answer, true));
      assertThat(charges.count()).isEqualTo(1);
    }
  }

  /** E8. */
  @Test
  void aCrashBetweenTheCommitAndTheCacheForgetsThePurchase() {
    CachedShop shop = new CachedShop();
    shop.crashAfterCommit = true;
    assertThatThrownBy(() -> shop.buy(() -> {})).isInstanceOf(Crash.class);
    shop.crashAfterCommit = false;

    shop.buy(() -> {});

    assertThat(charges.count()).as("the client's retry bought again").isEqualTo(2);
  }

  @Test
  void aCrashRightAfterTheCommitForgetsNothingBecauseTheKeyWasCommitted() {
    assertThatThrownBy(
            () -> {
              charge();
              throw new Crash();
            })
        .isInstanceOf(Crash.class);

    assertThat(charge())
        .isInstanceOfSatisfying(Completed.class, d -> assertThat(d.replayed()).isTrue());
    assertThat(charges.count()).isEqualTo(1);
  }

  /** E8. */
  @Test
  void aLockThatExpiresDuringThePaymentLetsTheTwinIn() {
    CachedShop shop = new CachedShop();

    shop.buy(
        () -> {
          shop.nowMs.addAndGet(CachedShop.LOCK_MS + 1);
          shop.buy(() -> {});
        });

    assertThat(charges.count()).isEqualTo(2);
  }

  @Test
  void aClaimLastsAsLongAsItsTransactionHoweverLongThatTakes() throws Exception {
    CountDownLatch working = new CountDownLatch(1);
    CountDownLatch paid = new CountDownLatch(1);
    Background<OnceResult> slow =
        Background.start(
            () ->
                once.call(
                    KEY,
                    BODY,
                    connection -> {
                      working.countDown();
                      await(paid);
                      return charges.charge(connection, KEY.key());
                    }));
    await(working);
    Background<OnceResult> twin = Background.start(this::charge);
    Await.blocked(database, 1);
    assertThat(once.removeExpired()).isZero();
    assertThat(transactor.<Claim>call(connection -> once.claimNow(connection, KEY, BODY)))
        .isEqualTo(new Claim.InUse());

    paid.countDown();

    Completed done = (Completed) slow.result();
    assertThat(twin.result()).isEqualTo(new Completed(done.answer(), true));
    assertThat(charges.count()).isEqualTo(1);
  }

  private OnceResult charge() {
    return once.call(KEY, BODY, connection -> charges.charge(connection, KEY.key()));
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await(30, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static final class Crash extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /** As the document has it: a lock and the answers in a cache beside the database. */
  private final class CachedShop {
    static final long LOCK_MS = 30_000;

    private final Map<String, String> answers = new ConcurrentHashMap<>();
    private final Map<String, Long> lockedUntilMs = new ConcurrentHashMap<>();
    private final AtomicLong nowMs = new AtomicLong();
    private boolean crashAfterCommit;

    String buy(Runnable payment) {
      String known = answers.get(KEY.key());
      if (known != null) {
        return known;
      }
      if (lockedUntilMs.getOrDefault(KEY.key(), 0L) > nowMs.get()) {
        return "in use";
      }
      lockedUntilMs.put(KEY.key(), nowMs.get() + LOCK_MS);
      try {
        payment.run();
        String answer = transactor.call(connection -> charges.charge(connection, KEY.key()));
        if (crashAfterCommit) {
          throw new Crash();
        }
        answers.put(KEY.key(), answer);
        return answer;
      } finally {
        lockedUntilMs.remove(KEY.key());
      }
    }
  }
}
