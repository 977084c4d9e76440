package dev.lockstep.server.key;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.api.Principal;
import dev.lockstep.server.api.ProblemException;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.rate.Rate;
import dev.lockstep.server.rate.TokenBuckets;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The test says when a look-up ends, and with what. The clock moves when it is told to. */
class LookUpsTest {
  private static final Optional<Principal> GOOD =
      Optional.of(new Principal(Role.BUYER, "key", Optional.of("buyer")));

  private long now = 1_000_000_000_000L;
  private final TokenBuckets unknownKeys = new TokenBuckets("test", new Rate(2, 4), () -> now);
  private final LookUps lookUps = new LookUps(unknownKeys);
  private final List<Promise<Optional<Principal>>> begun = new ArrayList<>();

  @Test
  void unknownKeysThatComeAtOnceAreLookedUpAsOftenAsOneByOne() {
    List<Future<Optional<Principal>>> asked = ask(11);
    assertThat(begun).hasSize(4);

    begun.forEach(one -> one.complete(Optional.empty()));

    assertThat(begun).hasSize(4);
    assertThat(asked.subList(0, 4)).allMatch(one -> one.succeeded() && one.result().isEmpty());
    assertThat(asked.subList(4, 11)).allMatch(LookUpsTest::isRateLimited);
    now += 500_000_000;
    ask(3);
    assertThat(begun).hasSize(5);
  }

  @Test
  void goodKeysWaitForEachOtherAndUseUpNothing() {
    List<Future<Optional<Principal>>> asked = ask(12);
    for (int i = 0; i < 12; i++) {
      assertThat(begun).hasSize(Math.min(12, i + 4));
      begun.get(i).complete(GOOD);
    }

    assertThat(asked).allMatch(one -> one.succeeded() && one.result().equals(GOOD));
    assertThat(unknownKeys.look("here").remaining()).isEqualTo(4);
  }

  @Test
  void aGoodKeyAmongStrangersLetsTheNextGoOn() {
    List<Future<Optional<Principal>>> asked = ask(6);
    begun.get(1).complete(GOOD);
    assertThat(begun).hasSize(5);

    for (int i : List.of(0, 2, 3)) {
      begun.get(i).complete(Optional.empty());
      assertThat(asked.get(5).isComplete()).isFalse();
    }
    begun.get(4).complete(GOOD);

    assertThat(begun).hasSize(6);
    begun.get(5).complete(GOOD);
    assertThat(asked.get(5).result()).isEqualTo(GOOD);
  }

  @Test
  void aLookUpThatFailsIsNotCounted() {
    List<Future<Optional<Principal>>> asked = ask(8);
    for (int i = 0; i < 8; i++) {
      begun.get(i).fail(new IllegalStateException("no database"));
    }

    assertThat(asked).allMatch(one -> one.cause() instanceof IllegalStateException);
    Future<Optional<Principal>> thrown =
        lookUps.run(
            "here",
            () -> {
              throw new IllegalStateException("planted");
            });
    assertThat(thrown.cause()).hasMessage("planted");
    assertThat(unknownKeys.look("here").remaining()).isEqualTo(4);
  }

  @Test
  void oneAddressDoesNotHoldUpAnother() {
    ask(9);

    assertThat(lookUps.run("elsewhere", () -> Future.succeededFuture(GOOD)).result())
        .isEqualTo(GOOD);
  }

  @Test
  void soManyWaitAndNoMore() {
    ask(4 + LookUps.MAX_WAITING);

    assertThat(ask(1)).allMatch(LookUpsTest::isRateLimited);
  }

  private List<Future<Optional<Principal>>> ask(int times) {
    List<Future<Optional<Principal>>> asked = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      asked.add(
          lookUps.run(
              "here",
              () -> {
                Promise<Optional<Principal>> promise = Promise.promise();
                begun.add(promise);
                return promise.future();
              }));
    }
    return asked;
  }

  private static boolean isRateLimited(Future<Optional<Principal>> one) {
    return one.cause() instanceof ProblemException refused && refused.problem().status() == 429;
  }
}
