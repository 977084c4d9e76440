package dev.lockstep.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.once.OnceResult.Completed;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every limit, at its edge. */
class OnceLimitsTest {
  private static final Fingerprint BODY = Fingerprint.of("ten");
  private static final int MAX_ANSWER = 100;
  private static final String HALF_A_CHARACTER = "\uD83D";

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private final Transactor transactor = new Transactor(database.dataSource());
  private final Once once =
      new Once(transactor, new OnceConfig(Duration.ofHours(1), MAX_ANSWER, 1));

  @ParameterizedTest
  @ValueSource(strings = {"k", "€", "\uD83D\uDE00", "' OR 1 = 1 --", "{\"a\",NULL}", "NULL"})
  void aKeyMayBeAnyTextOfUpTo255Characters(String text) {
    String longest = text.repeat(OnceKey.MAX_LENGTH / text.length());
    for (String name : List.of(text, longest)) {
      OnceKey key = new OnceKey(Long.MIN_VALUE, name, name);

      once.call(key, BODY, connection -> name.substring(0, Math.min(MAX_ANSWER, text.length())));

      assertThat(once.call(key, BODY, connection -> "never run"))
          .isEqualTo(new Completed(text, true));
      Map<OnceKey, Claim> found =
          transactor.call(connection -> once.find(connection, key.scope(), Map.of(key, BODY)));
      assertThat(found).isEqualTo(Map.of(key, new Claim.Answered(text)));
    }
  }

  @Test
  void keysAndOwnersThatAreEmptyTooLongOrNotStorableAreRefused() {
    for (String bad :
        List.of("", " ", "k".repeat(256), "k\0", HALF_A_CHARACTER, "k" + HALF_A_CHARACTER + "k")) {
      assertThatThrownBy(() -> new OnceKey(1, "alice", bad))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("key");
      assertThatThrownBy(() -> new OnceKey(1, bad, "order-1"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("owner");
    }
  }

  @Test
  void anAnswerMayBeEmptyOrAsLongAsConfigured() {
    for (String answer : List.of("", "€".repeat(MAX_ANSWER))) {
      OnceKey key = new OnceKey(1, "alice", "answer of " + answer.length());

      once.call(key, BODY, connection -> answer);

      assertThat(once.call(key, BODY, connection -> "never run"))
          .isEqualTo(new Completed(answer, true));
    }
  }

  @Test
  void anAnswerThatIsTooLongOrNotStorableIsRefusedTogetherWithItsEffect() {
    Charges charges = new Charges(database);
    for (String bad : List.of("x".repeat(MAX_ANSWER + 1), "x\0", HALF_A_CHARACTER)) {
      OnceKey key = new OnceKey(1, "alice", "order-1");

      assertThatThrownBy(
              () ->
                  once.call(
                      key,
                      BODY,
                      connection -> {
                        charges.charge(connection, "order-1");
                        return bad;
                      }))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(
              () ->
                  transactor.run(
                      connection ->
                          once.record(connection, 1, List.of(new OnceEntry(key, BODY, bad)))))
          .isInstanceOf(IllegalArgumentException.class);

      assertThat(charges.count()).isZero();
      assertThat(database.queryLong("SELECT count(*) FROM lockstep.once")).isZero();
    }
  }

  @Test
  void aLongAnswerOfTheDefaultLimitIsStored() {
    Once byDefault = new Once(transactor);
    OnceKey key = new OnceKey(1, "alice", "long");
    String longest = "€".repeat(OnceConfig.DEFAULT.maxAnswerLength());

    byDefault.call(key, BODY, connection -> longest);

    assertThat(byDefault.call(key, BODY, connection -> "never run"))
        .isEqualTo(new Completed(longest, true));
  }

  @Test
  void aConfigurationIsCheckedAtItsEdges() {
    assertThat(OnceConfig.DEFAULT)
        .isEqualTo(new OnceConfig(Duration.ofHours(24), 1_000_000, 1_000));
    assertThat(OnceConfig.DEFAULT.withKeepFor(Duration.ofDays(3650)).keepFor())
        .isEqualTo(Duration.ofDays(3650));
    Duration day = Duration.ofDays(1);

    assertThatThrownBy(() -> OnceConfig.DEFAULT.withKeepFor(Duration.ofMillis(999)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> OnceConfig.DEFAULT.withKeepFor(Duration.ofDays(3650).plusNanos(1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> OnceConfig.DEFAULT.withRemovalBatch(0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new OnceConfig(day, 0, 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aKeyKeptForTheLongestTimeIsStored() {
    Once forYears = new Once(transactor, OnceConfig.DEFAULT.withKeepFor(Duration.ofDays(3650)));

    assertThat(forYears.call(new OnceKey(1, "alice", "years"), BODY, connection -> "done"))
        .isEqualTo(new Completed("done", false));
  }
}
