package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.SerializationConflict;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.RaceResult;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** Locks by name: exclusive, on 64 bits, in one order, gone with the transaction. */
class AdvisoryLocksTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final String HELD_BY_ME =
      "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()";

  private final Transactor transactor =
      new Transactor(database.dataSource(), Await.PATIENTLY, attempt -> {});

  @Test
  void aSecondCallerWaitsUntilTheFirstTransactionEnds() throws Exception {
    Background<Boolean> second =
        transactor.call(
            connection -> {
              AdvisoryLocks.lock(connection, "draw-7");
              Background<Boolean> other =
                  Background.start(() -> transactor.call(c -> lock(c, "draw-7")));
              Await.blocked(database, 1);
              assertThat(other.isDone()).isFalse();
              return other;
            });

    assertThat(second.result()).isTrue();
  }

  @Test
  void tryingNeverWaits() {
    transactor.run(
        connection -> {
          assertThat(AdvisoryLocks.tryLock(connection, "draw-7")).isTrue();
          assertThat(AdvisoryLocks.tryLock(connection, "draw-7"))
              .as("again by its holder")
              .isTrue();
          assertThat(triedByAnother("draw-7")).isFalse();
          assertThat(triedByAnother("draw-8")).isTrue();
        });
  }

  @Test
  void theLockIsGoneAfterCommitAndAfterRollback() throws SQLException {
    transactor.run(connection -> AdvisoryLocks.lock(connection, "draw-7"));
    assertThat(triedByAnother("draw-7")).isTrue();

    assertThatThrownBy(
            () ->
                transactor.run(
                    connection -> {
                      AdvisoryLocks.lock(connection, "draw-7");
                      throw new IllegalStateException("rolled back");
                    }))
        .hasMessage("rolled back");
    assertThat(triedByAnother("draw-7")).isTrue();
  }

  @Test
  void crossingSetsTakenOneByOneDeadlock() throws InterruptedException {
    CyclicBarrier bothHoldTheirFirst = new CyclicBarrier(2);
    TxOptions once = TxOptions.DEFAULT.withRetry(RetryPolicy.NEVER);

    RaceResult<Boolean> result =
        Race.<Boolean>of(2)
            .run(
                i ->
                    transactor.call(
                        once,
                        connection -> {
                          Sql.execute(connection, "SET LOCAL deadlock_timeout = '20ms'");
                          lock(connection, i == 0 ? "a" : "b");
                          await(bothHoldTheirFirst);
                          return lock(connection, i == 0 ? "b" : "a");
                        }));

    assertThat(result.failures()).singleElement().isInstanceOf(SerializationConflict.class);
  }

  @Test
  void crossingSetsTakenTogetherNeverDeadlock() throws InterruptedException {
    TxOptions once = TxOptions.DEFAULT.withRetry(RetryPolicy.NEVER);
    List<String> names = names(20);

    Race.<Boolean>of(16)
        .run(
            i -> {
              List<String> mine = new ArrayList<>(names);
              for (int n = 0; n < 10; n++) {
                Collections.shuffle(mine, new Random(i * 100L + n));
                transactor.run(
                    once, connection -> AdvisoryLocks.lockAll(connection, mine.subList(0, 10)));
              }
              return true;
            })
        .valuesOrThrow();
  }

  @Test
  void everyLockOfManyIsTakenEvenWhenTheDriverFetchesRowsInPortions() throws SQLException {
    PGSimpleDataSource portions = new PGSimpleDataSource();
    portions.setUrl(database.url());
    portions.setUser(database.user());
    portions.setPassword(database.password());
    portions.setDefaultRowFetchSize(3);

    long held =
        new Transactor(portions)
            .call(
                connection -> {
                  AdvisoryLocks.lockAll(connection, names(20));
                  return Sql.query(connection, HELD_BY_ME);
                });

    assertThat(held).isEqualTo(20);
  }

  @Test
  void noNamesMeanNoLocks() {
    long held =
        transactor.call(
            connection -> {
              AdvisoryLocks.lockAll(connection, List.of());
              return Sql.query(connection, HELD_BY_ME);
            });

    assertThat(held).isZero();
  }

  @Test
  void namesThatCollideOnTheLowThirtyTwoBitsStayApart() {
    strangersThatCollideOn(key -> key & 0xFFFF_FFFFL);
  }

  @Test
  void namesThatCollideOnTheHighThirtyTwoBitsStayApart() {
    strangersThatCollideOn(key -> key >>> 32);
  }

  @Test
  void withoutATransactionTheLockWouldBeGoneAtOnceSoItIsRefused() throws SQLException {
    try (Connection connection = database.connection()) {
      assertThatThrownBy(() -> AdvisoryLocks.lock(connection, "draw-7"))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> AdvisoryLocks.tryLock(connection, "draw-7"))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> AdvisoryLocks.lockAll(connection, List.of("draw-7")))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void theKeyOfANameNeverChanges() {
    assertThat(AdvisoryLocks.keyOf("lockstep")).isEqualTo(-5484812053145824084L);
  }

  private void strangersThatCollideOn(LongUnaryOperator cut) {
    List<String> pair = collidingPair(cut);
    String ours = pair.get(0);
    String theirs = pair.get(1);
    transactor.run(
        connection -> {
          AdvisoryLocks.lock(connection, ours);
          assertThat(triedByAnother(theirs)).as("64 bits").isTrue();

          long key = cut.applyAsLong(AdvisoryLocks.keyOf(ours));
          Sql.execute(connection, "SELECT pg_advisory_xact_lock(?)", key);
          assertThat(keyTriedByAnother(cut.applyAsLong(AdvisoryLocks.keyOf(theirs))))
              .as("32 bits make a stranger wait")
              .isFalse();
        });
  }

  /** By the birthday paradox two of some hundred thousand names share any 32 bits. */
  private static List<String> collidingPair(LongUnaryOperator cut) {
    Map<Long, String> seen = new HashMap<>();
    for (int i = 0; ; i++) {
      String name = "name-" + i;
      String twin = seen.put(cut.applyAsLong(AdvisoryLocks.keyOf(name)), name);
      if (twin != null) {
        return List.of(twin, name);
      }
    }
  }

  private static boolean triedByAnother(String name) throws SQLException {
    return keyTriedByAnother(AdvisoryLocks.keyOf(name));
  }

  private static boolean keyTriedByAnother(long key) throws SQLException {
    try (Connection another = database.connection()) {
      return Sql.text(another, "SELECT pg_try_advisory_xact_lock(?)", key).equals("t");
    }
  }

  private static boolean lock(Connection connection, String name) throws SQLException {
    AdvisoryLocks.lock(connection, name);
    return true;
  }

  private static List<String> names(int count) {
    return IntStream.range(0, count).mapToObj(i -> "name-" + i).toList();
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
