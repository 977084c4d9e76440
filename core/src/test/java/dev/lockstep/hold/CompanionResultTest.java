package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.combine.CombinerOverloaded;
import dev.lockstep.combine.CommandRefused;
import dev.lockstep.combine.Companion;
import dev.lockstep.combine.CompanionResult;
import dev.lockstep.combine.CompanionResult.NotQueued;
import dev.lockstep.combine.CompanionResult.RolledBack;
import dev.lockstep.combine.CompanionResult.Written;
import dev.lockstep.combine.Door;
import dev.lockstep.combine.Overloads;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldsOverloaded;
import dev.lockstep.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a companion returns reaches the caller whose command it is about, once it is committed. */
class CompanionResultTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  /** Refuses the payload "refused" and returns the others in capitals. */
  private static final Companion<String, HoldOutcome, String> LOUD =
      (transaction, commands) -> {
        List<String> results = new ArrayList<>();
        for (var command : commands) {
          if (command.payload().equals("refused")) {
            throw new CommandRefused("NO");
          }
          results.add(command.payload().toUpperCase(Locale.ROOT));
        }
        return results;
      };

  @Test
  void eachCallerOfABatchGetsItsOwnResult() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(30);

    List<CompanionResult<AcquireResult, String>> results =
        inOneBatch(sale, pool, List.of("a", "b", "c", "d"));

    for (int i = 0; i < results.size(); i++) {
      String payload = "abcd".substring(i, i + 1);
      Written<AcquireResult, String> written = (Written<AcquireResult, String>) results.get(i);
      assertThat(written.result()).isEqualTo(payload.toUpperCase(Locale.ROOT));
      assertThat(((Granted) written.outcome()).hold().buyer()).isEqualTo(new BuyerId(payload));
    }
  }

  @Test
  void aRefusedCommandIsUndoneAndAnsweredAndTheOthersAreGranted() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(30);

    List<CompanionResult<AcquireResult, String>> results =
        inOneBatch(sale, pool, List.of("a", "b", "refused", "d", "refused"));

    assertThat(results)
        .filteredOn(result -> result instanceof RolledBack)
        .extracting(result -> result.resultOr(outcome -> "not queued"))
        .containsExactly("NO", "NO");
    assertThat(results).filteredOn(result -> result instanceof Written).hasSize(3);
    assertThat(sale.counts(pool).held()).as("with the one that kept the queue busy").isEqualTo(4);
    assertThatThrownBy(() -> results.get(2).outcome()).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aCallerWhoWaitsIsAnsweredTheSame() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(1);

    assertThat(sale.node().call(sale.acquire("a", Line.of(pool, 1)), LOUD, "refused"))
        .isEqualTo(new RolledBack<>("NO"));
    assertThat(sale.node().call(sale.acquire("a", Line.of(pool, 1)), LOUD, "a"))
        .isInstanceOf(Written.class);
  }

  @Test
  void onTheCallersConnectionARefusalIsThrown() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(1);
    var acquire = sale.acquire("a", Line.of(pool, 1));

    assertThatThrownBy(
            () -> sale.transactor().call(c -> sale.node().join(c, acquire, LOUD, "refused")))
        .isInstanceOf(CommandRefused.class);
    assertThat(sale.counts(pool).held()).isZero();
    assertThat(
            sale.transactor()
                .call(c -> sale.node().join(c, acquire, LOUD, "a"))
                .resultOr(outcome -> "not queued"))
        .isEqualTo("A");
  }

  @Test
  void theResultIsOfTheAttemptThatCommitted() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(1);
    AtomicInteger attempts = new AtomicInteger();
    Companion<String, HoldOutcome, Integer> counting =
        (transaction, commands) -> {
          int attempt = attempts.incrementAndGet();
          if (attempt < 3) {
            throw SqlFault.conflict("as may happen at any time");
          }
          return List.of(attempt);
        };

    assertThat(
            sale.node()
                .call(sale.acquire("a", Line.of(pool, 1)), counting, "p")
                .resultOr(outcome -> 0))
        .isEqualTo(3);
  }

  @Test
  void aResultTooFewFailsTheCommandAndHoldsNothing() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(1);
    Companion<String, HoldOutcome, String> silent = (transaction, commands) -> List.of();

    assertThatThrownBy(() -> sale.node().call(sale.acquire("a", Line.of(pool, 1)), silent, "p"))
        .hasMessageContaining("0 results to 1 commands");
    assertThat(sale.counts(pool).held()).isZero();
  }

  @Test
  void aCommandThatFindsNoRoomInTheQueueHasNoResult() throws Exception {
    HoldsConfig narrow =
        HoldsConfig.DEFAULT.withCombiner(HoldsConfig.DEFAULT.combiner().withMaxWaiting(10, 1));
    Sale sale = fixture.sale(OptionalInt.empty(), narrow);
    PoolId pool = sale.counted(10);
    CompanionResult<AcquireResult, String> refused;
    try (Busy busy = new Busy(database, sale, pool)) {
      CompletionStage<CompanionResult<AcquireResult, String>> waits =
          sale.node().submit(sale.acquire("a", Line.of(pool, 1)), LOUD, "a");
      refused = Door.await(sale.node().submit(sale.acquire("b", Line.of(pool, 1)), LOUD, "b"));
      busy.end();
      assertThat(Door.await(waits)).isInstanceOf(Written.class);
    }

    assertThat(refused).isInstanceOf(NotQueued.class);
    assertThat(refused.outcome()).isInstanceOf(HoldsOverloaded.class);
    assertThat(refused.resultOr(outcome -> "not queued")).isEqualTo("not queued");
  }

  /** It had a place in this one, and its batch ran. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aCompanionThatFindsAnotherQueueFullFailsItsCommand(boolean waiting) {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(1);
    Companion<String, HoldOutcome, String> asking =
        (transaction, commands) -> {
          throw Overloads.ofAnother();
        };
    Acquire acquire = sale.acquire("a", Line.of(pool, 1));

    assertThatThrownBy(
            () -> {
              if (waiting) {
                sale.node().call(acquire, asking, "p");
              } else {
                Door.await(sale.node().submit(acquire, asking, "p"));
              }
            })
        .isInstanceOf(CombinerOverloaded.class);
    assertThat(sale.counts(pool).held()).isZero();
  }

  private static List<CompanionResult<AcquireResult, String>> inOneBatch(
      Sale sale, PoolId pool, List<String> payloads) throws Exception {
    List<CompletionStage<CompanionResult<AcquireResult, String>>> asked = new ArrayList<>();
    try (Busy busy = new Busy(database, sale, pool)) {
      for (String payload : payloads) {
        asked.add(sale.node().submit(sale.acquire(payload, Line.of(pool, 1)), LOUD, payload));
      }
      busy.end();
    }
    return asked.stream().map(Door::await).toList();
  }
}
