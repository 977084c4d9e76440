package dev.lockstep.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.once.Claim.Reused;
import dev.lockstep.once.OnceResult.Completed;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** G3: one effect per idempotency key, and one answer to everybody who sends it. */
class OnceTest {
  private static final int CALLERS = 40;
  private static final OnceKey KEY = new OnceKey(1, "alice", "order-1");
  private static final Fingerprint BODY = Fingerprint.of("POST", "/charges", "{\"amount\":10}");
  private static final Fingerprint OTHER_BODY =
      Fingerprint.of("POST", "/charges", "{\"amount\":99}");

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private Charges charges;
  private HikariDataSource poolOfSecondNode;
  private Once once;
  private Once onSecondNode;

  @BeforeEach
  void twoNodes() {
    charges = new Charges(database);
    once = new Once(new Transactor(database.dataSource()));
    poolOfSecondNode = new HikariDataSource();
    poolOfSecondNode.setJdbcUrl(database.url());
    poolOfSecondNode.setUsername(database.user());
    poolOfSecondNode.setPassword(database.password());
    poolOfSecondNode.setMinimumIdle(0);
    onSecondNode = new Once(new Transactor(poolOfSecondNode));
  }

  @AfterEach
  void closePool() {
    poolOfSecondNode.close();
  }

  @Test
  void aKeySentFortyTimesAtOnceHasOneEffectAndOneAnswer() throws InterruptedException {
    List<OnceResult> results =
        Race.<OnceResult>of(CALLERS).run(caller -> charge(once, KEY, BODY)).valuesOrThrow();

    assertOneEffect(results);
  }

  @Test
  void aKeySentToTwoNodesAtOnceHasOneEffectAndOneAnswer() throws InterruptedException {
    List<OnceResult> results =
        Race.<OnceResult>of(CALLERS)
            .run(caller -> charge(caller % 2 == 0 ? once : onSecondNode, KEY, BODY))
            .valuesOrThrow();

    assertOneEffect(results);
  }

  @Test
  void manyKeysSentSeveralTimesAtOnceHaveOneEffectEach() throws InterruptedException {
    int keys = 10;
    Race.<OnceResult>of(CALLERS)
        .run(
            caller ->
                charge(
                    caller % 2 == 0 ? once : onSecondNode,
                    new OnceKey(1, "alice", "order-" + caller % keys),
                    BODY))
        .valuesOrThrow();

    assertThat(charges.count()).isEqualTo(keys);
    for (int key = 0; key < keys; key++) {
      assertThat(charges.count("order-" + key)).isEqualTo(1);
    }
  }

  @Test
  void aKeyWithAnotherBodyIsRefusedAndChangesNothing() {
    charge(once, KEY, BODY);
    List<String> before = rows();

    assertThat(charge(once, KEY, OTHER_BODY)).isEqualTo(new Reused());

    assertThat(charges.count()).isEqualTo(1);
    assertThat(rows()).isEqualTo(before);
  }

  @Test
  void ofTwoBodiesRacingForAKeyOneIsDoneAndTheOtherRefused() throws InterruptedException {
    List<OnceResult> results =
        Race.<OnceResult>of(CALLERS)
            .run(caller -> charge(once, KEY, caller % 2 == 0 ? BODY : OTHER_BODY))
            .valuesOrThrow();

    assertThat(charges.count()).isEqualTo(1);
    assertThat(results).filteredOn(new Reused()::equals).hasSize(CALLERS / 2);
    assertThat(results).filteredOn(Completed.class::isInstance).hasSize(CALLERS / 2);
  }

  @Test
  void anEffectThatRollsBackLeavesTheKeyFree() {
    assertThatThrownBy(
            () ->
                once.call(
                    KEY,
                    BODY,
                    connection -> {
                      charges.charge(connection, KEY.key());
                      throw new IllegalArgumentException("the card was declined");
                    }))
        .hasMessage("the card was declined");
    assertThat(charges.count()).isZero();
    assertThat(rows()).isEmpty();

    OnceResult again = charge(once, KEY, OTHER_BODY);

    assertThat(again).isInstanceOfSatisfying(Completed.class, done -> assertNotReplayed(done));
    assertThat(charges.count()).isEqualTo(1);
  }

  @Test
  void twinsOfAnEffectThatFailsTryItThemselvesUntilItSucceeds() throws InterruptedException {
    int failing = 5;
    AtomicInteger runs = new AtomicInteger();
    var result =
        Race.<OnceResult>of(CALLERS)
            .run(
                caller ->
                    once.call(
                        KEY,
                        BODY,
                        connection -> {
                          String answer = charges.charge(connection, KEY.key());
                          if (runs.incrementAndGet() <= failing) {
                            throw new IllegalArgumentException("the card was declined");
                          }
                          return answer;
                        }));

    assertThat(result.failures()).hasSize(failing);
    assertOneEffect(result.values());
  }

  @Test
  void scopesAndOwnersKeepTheSameKeyApart() {
    List<OnceKey> keys =
        List.of(
            KEY,
            new OnceKey(2, KEY.owner(), KEY.key()),
            new OnceKey(1, "bob", KEY.key()),
            new OnceKey(1, KEY.owner(), "order-2"),
            // Were the two simply joined, this would be the first.
            new OnceKey(1, KEY.owner() + KEY.key().charAt(0), KEY.key().substring(1)));

    for (OnceKey key : keys) {
      assertThat(charge(once, key, BODY))
          .isInstanceOfSatisfying(Completed.class, done -> assertNotReplayed(done));
    }

    assertThat(charges.count()).isEqualTo(keys.size());
  }

  private OnceResult charge(Once node, OnceKey key, Fingerprint body) {
    return node.call(key, body, connection -> charges.charge(connection, key.key()));
  }

  private void assertOneEffect(List<OnceResult> results) {
    assertThat(charges.count()).isEqualTo(1);
    List<Completed> done = results.stream().map(Completed.class::cast).toList();
    assertThat(done.stream().map(Completed::answer).distinct()).hasSize(1);
    assertThat(done.stream().filter(result -> !result.replayed())).hasSize(1);
  }

  private static void assertNotReplayed(Completed done) {
    assertThat(done.replayed()).isFalse();
  }

  private static List<String> rows() {
    return database.query("SELECT o::text FROM lockstep.once o", row -> row.getString(1));
  }
}
