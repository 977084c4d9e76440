package dev.lockstep.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.SerializationConflict;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.once.Claim.Answered;
import dev.lockstep.once.Claim.Fresh;
import dev.lockstep.once.Claim.InUse;
import dev.lockstep.once.Claim.Reused;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxAttempt;
import dev.lockstep.tx.TxAttempt.TxOutcome;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Many keys at once, with one statement to look and one to write. */
class OnceInBulkTest {
  private static final long SCOPE = 1;
  private static final OnceKey KEY = key("order-1");
  private static final Fingerprint BODY = Fingerprint.of("ten");

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private final List<TxAttempt> attempts = new CopyOnWriteArrayList<>();
  private final Transactor transactor =
      new Transactor(database.dataSource(), TxOptions.DEFAULT, attempts::add);
  private final Once once = new Once(transactor);

  @BeforeEach
  void noKeys() {
    database.execute("TRUNCATE lockstep.once");
  }

  @Test
  void whatIsRecordedIsFoundAndKeysWithoutARowAreLeftOut() {
    OnceKey claimed = key("claimed");
    OnceKey expired = key("expired");
    OnceKey unknown = key("unknown");
    transactor.run(
        connection -> {
          once.record(
              connection,
              SCOPE,
              List.of(entry(KEY, "one"), entry(key("b"), "two"), entry(expired, "x")));
          assertThat(once.claim(connection, claimed, BODY)).isInstanceOf(Fresh.class);
        });
    database.execute("UPDATE lockstep.once SET expires_at = now() WHERE key = 'expired'");

    Map<OnceKey, Claim> found =
        find(
            Map.of(
                KEY,
                BODY,
                key("b"),
                Fingerprint.of("other"),
                claimed,
                BODY,
                expired,
                BODY,
                unknown,
                BODY));

    assertThat(found)
        .isEqualTo(Map.of(KEY, new Answered("one"), key("b"), new Reused(), claimed, new InUse()));
  }

  @Test
  void nothingIsRecordedOrFoundOfNoKeys() {
    transactor.run(connection -> once.record(connection, SCOPE, List.of()));

    assertThat(find(Map.of())).isEmpty();
  }

  @Test
  void recordedKeysAndClaimedOnesAreTheSame() {
    transactor.run(connection -> once.record(connection, SCOPE, List.of(entry(KEY, "one"))));

    assertThat(once.call(KEY, BODY, connection -> "never run"))
        .isEqualTo(new OnceResult.Completed("one", true));
  }

  @Test
  void anExpiredKeyIsRecordedAnew() {
    transactor.run(connection -> once.record(connection, SCOPE, List.of(entry(KEY, "yesterday"))));
    database.execute("UPDATE lockstep.once SET expires_at = now()");

    transactor.run(connection -> once.record(connection, SCOPE, List.of(entry(KEY, "today"))));

    assertThat(find(Map.of(KEY, BODY))).isEqualTo(Map.of(KEY, new Answered("today")));
  }

  @Test
  void aKeyThatATwinUsesMeanwhileIsAConflictAndAfterTheRetryFound() throws Exception {
    try (Connection twin = transaction()) {
      Fresh claim = (Fresh) once.claim(twin, KEY, BODY);
      Background<String> batch = Background.start(() -> findOrRecord(KEY, "by the batch"));
      Await.blocked(database, 1);

      once.answer(twin, claim, "by the twin");
      twin.commit();

      assertThat(batch.result()).isEqualTo("by the twin");
      assertThat(attempts)
          .extracting(TxAttempt::outcome)
          .containsExactly(TxOutcome.RETRIED, TxOutcome.COMMITTED);
      assertThat(attempts.get(0).fault()).isEqualTo(Optional.of(SqlFault.SERIALIZATION));
    }
  }

  @Test
  void aKeyWhoseTwinRollsBackIsRecordedWithoutARetry() throws Exception {
    try (Connection twin = transaction()) {
      once.claim(twin, KEY, BODY);
      Background<String> batch = Background.start(() -> findOrRecord(KEY, "by the batch"));
      Await.blocked(database, 1);

      twin.rollback();

      assertThat(batch.result()).isEqualTo("by the batch");
      assertThat(attempts).extracting(TxAttempt::outcome).containsExactly(TxOutcome.COMMITTED);
    }
  }

  @Test
  void onTheCallersConnectionTheConflictIsTheCallersToRetry() throws SQLException {
    transactor.run(connection -> once.record(connection, SCOPE, List.of(entry(KEY, "first"))));
    try (Connection connection = transaction()) {
      assertThatThrownBy(
              () ->
                  once.record(
                      connection, SCOPE, List.of(entry(key("a"), "lost"), entry(KEY, "second"))))
          .isInstanceOf(SerializationConflict.class);
    }

    assertThat(find(Map.of(KEY, BODY, key("a"), BODY)))
        .as("nothing of the batch is there")
        .isEqualTo(Map.of(KEY, new Answered("first")));
  }

  @Test
  void batchesOfTheSameKeysInOtherOrdersRecordEachOnceAndNeverDeadlock() throws Exception {
    List<OnceKey> keys = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      keys.add(key("order-" + i));
    }

    List<Map<OnceKey, String>> answers =
        Race.<Map<OnceKey, String>>of(8)
            .run(
                node -> {
                  List<OnceKey> shuffled = new ArrayList<>(keys);
                  Collections.shuffle(shuffled, new Random(node));
                  return findOrRecordAll(shuffled, "by node " + node);
                })
            .valuesOrThrow();

    assertThat(answers.stream().distinct()).as("everybody has the same answers").hasSize(1);
    assertThat(attempts)
        .noneMatch(attempt -> attempt.fault().filter(SqlFault.DEADLOCK::equals).isPresent());
  }

  @Test
  void keysAreTakenInOneOrderWhateverOrderTheyComeIn() throws Exception {
    try (Connection twin = transaction();
        Connection other = transaction()) {
      once.claim(twin, key("a"), BODY);
      Background<Map<OnceKey, String>> batch =
          Background.start(() -> findOrRecordAll(List.of(key("b"), key("a")), "by the batch"));
      Await.blocked(database, 1);

      assertThat(once.claimNow(other, key("b"), BODY))
          .as("whoever waits for the first key has not taken the second")
          .isInstanceOf(Fresh.class);

      other.rollback();
      twin.rollback();
      assertThat(batch.result()).hasSize(2).containsValue("by the batch");
    }
  }

  @Test
  void aKeyTwiceOrOfAnotherScopeIsRefusedAndNothingIsRecorded() {
    OnceKey foreign = new OnceKey(SCOPE + 1, "alice", "order-2");

    assertRefused(List.of(entry(KEY, "one"), entry(KEY, "two")));
    assertRefused(List.of(entry(KEY, "one"), entry(foreign, "two")));
    assertThatThrownBy(() -> find(Map.of(foreign, BODY)))
        .isInstanceOf(IllegalArgumentException.class);

    assertThat(database.queryLong("SELECT count(*) FROM lockstep.once")).isZero();
  }

  private void assertRefused(List<OnceEntry> entries) {
    assertThatThrownBy(() -> transactor.run(connection -> once.record(connection, SCOPE, entries)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private String findOrRecord(OnceKey key, String answer) {
    return findOrRecordAll(List.of(key), answer).getOrDefault(key, "none");
  }

  /** What a batch does: look, write what is new, and try again when somebody was faster. */
  private Map<OnceKey, String> findOrRecordAll(List<OnceKey> keys, String answer) {
    Map<OnceKey, Fingerprint> requests = new HashMap<>();
    keys.forEach(key -> requests.put(key, BODY));
    return transactor.call(
        connection -> {
          Map<OnceKey, Claim> found = once.find(connection, SCOPE, requests);
          Map<OnceKey, String> answers = new HashMap<>();
          List<OnceEntry> fresh = new ArrayList<>();
          for (OnceKey key : keys) {
            if (found.get(key) instanceof Answered answered) {
              answers.put(key, answered.answer());
            } else {
              fresh.add(entry(key, answer));
              answers.put(key, answer);
            }
          }
          once.record(connection, SCOPE, fresh);
          return answers;
        });
  }

  private Map<OnceKey, Claim> find(Map<OnceKey, Fingerprint> requests) {
    return new Transactor(database.dataSource())
        .call(connection -> once.find(connection, SCOPE, requests));
  }

  private static OnceKey key(String name) {
    return new OnceKey(SCOPE, "alice", name);
  }

  private static OnceEntry entry(OnceKey key, String answer) {
    return new OnceEntry(key, BODY, answer);
  }

  private static Connection transaction() throws SQLException {
    Connection connection = database.connection();
    connection.setAutoCommit(false);
    return connection;
  }
}
