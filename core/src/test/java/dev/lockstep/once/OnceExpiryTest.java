package dev.lockstep.once;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.once.OnceResult.Completed;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxAttempt;
import dev.lockstep.tx.TxAttempt.TxOutcome;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** Keys are remembered for a while, then free again, then gone. */
class OnceExpiryTest {
  private static final OnceKey KEY = new OnceKey(1, "alice", "order-1");
  private static final Fingerprint BODY = Fingerprint.of("ten");
  private static final int BATCH = 4;
  private static final OnceConfig SMALL_BATCHES = OnceConfig.DEFAULT.withRemovalBatch(BATCH);

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private final List<TxAttempt> attempts = new CopyOnWriteArrayList<>();
  private final Once once = onceOn(database.dataSource());
  private Charges charges;

  @BeforeEach
  void noCharges() {
    charges = new Charges(database);
  }

  @Test
  void aKeyIsKeptForAsLongAsConfigured() {
    charge();

    assertThat(
            database.queryLong(
                """
                SELECT count(*) FROM lockstep.once
                WHERE expires_at = created_at + interval '24 hours' AND created_at <= now()"""))
        .isEqualTo(1);
  }

  @Test
  void anExpiredKeyIsFreeEvenBeforeItIsRemoved() {
    Completed first = charge();
    expireAll();

    assertThat(find()).isEmpty();
    Completed second =
        (Completed) once.call(KEY, Fingerprint.of("other"), c -> charges.charge(c, "other"));

    assertThat(second.replayed()).isFalse();
    assertThat(second.answer()).isNotEqualTo(first.answer());
    assertThat(once.removeExpired()).isZero();
    assertThat(once.call(KEY, Fingerprint.of("other"), c -> "never run"))
        .isEqualTo(new Completed(second.answer(), true));
  }

  @Test
  void anExpiredKeySentManyTimesAtOnceHasOneEffectMore() throws InterruptedException {
    charge();
    expireAll();

    List<Completed> done = Race.<Completed>of(20).run(caller -> charge()).valuesOrThrow();

    assertThat(charges.count()).isEqualTo(2);
    assertThat(done.stream().map(Completed::answer).distinct()).hasSize(1);
    assertThat(done.stream().filter(result -> !result.replayed())).hasSize(1);
  }

  @Test
  void anExpiredKeySentWhileKeysAreRemovedHasOneEffectMore() throws InterruptedException {
    for (int round = 1; round <= 10; round++) {
      charge();
      expireAll();

      List<Integer> removed =
          Race.<Integer>of(12)
              .run(
                  caller -> {
                    if (caller % 3 == 0) {
                      return once.removeExpired();
                    }
                    charge();
                    return 0;
                  })
              .valuesOrThrow();

      assertThat(charges.count()).isEqualTo(round + 1);
      assertThat(removed.stream().mapToInt(Integer::intValue).sum()).isBetween(0, 1);
    }
  }

  @Test
  void expiredKeysAreRemovedInSmallBatchesAndLiveOnesStay() {
    keys("expired", 25, "-1 second");
    keys("live", 10, "1 hour");

    assertThat(once.removeExpired()).isEqualTo(25);

    assertThat(attempts).hasSize(25 / BATCH + 1).allMatch(a -> a.outcome() == TxOutcome.COMMITTED);
    assertThat(owners()).hasSize(10).containsOnly("live");
  }

  @Test
  void whateverThePlannerThinksABatchIsSmall() throws Exception {
    keys("expired", 25, "-1 second");
    DataSource otherPlans = planning("hashjoin", "hashagg", "sort", "material");
    try (Connection connection = otherPlans.getConnection()) {
      connection.setAutoCommit(false);
      int naive =
          Sql.execute(
              connection,
              """
              DELETE FROM lockstep.once WHERE (scope, owner, key) IN (
                SELECT scope, owner, key FROM lockstep.once WHERE expires_at <= now()
                ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED)""",
              BATCH);
      assertThat(naive).as("without a fence the limit limits nothing").isGreaterThan(BATCH);
      connection.rollback();
    }

    assertThat(onceOn(otherPlans).removeExpired()).isEqualTo(25);

    assertThat(attempts).hasSize(25 / BATCH + 1);
  }

  @Test
  void severalNodesRemoveEachKeyOnce() throws InterruptedException {
    keys("expired", 200, "-1 second");
    keys("live", 10, "1 hour");

    List<Integer> removed =
        Race.<Integer>of(5)
            .run(
                node ->
                    new Once(new Transactor(database.dataSource()), SMALL_BATCHES).removeExpired())
            .valuesOrThrow();

    // A node may leave early what others are at; those do remove it.
    assertThat(removed.stream().mapToInt(Integer::intValue).sum()).isEqualTo(200);
    assertThat(owners()).hasSize(10).containsOnly("live");
  }

  @Test
  void aKeyThatIsBeingTakenOverIsPassedByAndStays() throws Exception {
    charge();
    keys("expired", 3, "-1 second");
    expireAll();
    try (Connection claiming = database.connection()) {
      claiming.setAutoCommit(false);
      Claim.Fresh claim = (Claim.Fresh) once.claim(claiming, KEY, BODY);

      assertThat(once.removeExpired()).isEqualTo(3);

      once.answer(claiming, claim, "again");
      claiming.commit();
    }
    assertThat(once.removeExpired()).isZero();
    assertThat(find()).isEqualTo(Map.of(KEY, new Claim.Answered("again")));
  }

  private Once onceOn(DataSource dataSource) {
    return new Once(new Transactor(dataSource, TxOptions.DEFAULT, attempts::add), SMALL_BATCHES);
  }

  private Completed charge() {
    return (Completed) once.call(KEY, BODY, connection -> charges.charge(connection, KEY.key()));
  }

  private Map<OnceKey, Claim> find() {
    return new Transactor(database.dataSource())
        .call(connection -> once.find(connection, 1, Map.of(KEY, BODY)));
  }

  private static void keys(String owner, int count, String expiresIn) {
    database.execute(
        """
        INSERT INTO lockstep.once
        SELECT 1, '%s', 'key-' || i, sha256('x'), 'done', now() - interval '1 day',
          now() + interval '%s'
        FROM generate_series(1, %d) AS i"""
            .formatted(owner, expiresIn, count));
  }

  private static void expireAll() {
    database.execute("UPDATE lockstep.once SET expires_at = now()");
  }

  private static List<String> owners() {
    return database.query("SELECT owner FROM lockstep.once", row -> row.getString(1));
  }

  /** Connections whose planner may not use what it usually would. */
  private static DataSource planning(String... without) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(database.url());
    source.setUser(database.user());
    source.setPassword(database.password());
    source.setOptions("-c enable_" + String.join("=off -c enable_", without) + "=off");
    return source;
  }
}
