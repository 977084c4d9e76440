package dev.lockstep.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.PermanentFault;
import dev.lockstep.fault.TransientFault;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** What an exception was wrapped in on its way changes nothing about the answer. */
class FaultsTest {
  private static final List<Function<Throwable, Throwable>> WRAPPINGS =
      List.of(
          thrown -> thrown,
          CompletionException::new,
          ExecutionException::new,
          IllegalStateException::new,
          RuntimeException::new,
          thrown -> new CompletionException(new IllegalStateException("a duty failed", thrown)));

  @Test
  void whatMayPassIsUnavailableHoweverItIsWrapped() {
    assertAnswer(new TransientFault("a lock", null) {}, 503, "unavailable");
    for (String state : List.of("55P03", "57014", "40001", "40P01", "25006", "57P01", "08006")) {
      assertAnswer(new SQLException("planted", state), 503, "unavailable");
    }
    assertAnswer(new SQLTransientConnectionException("no connection"), 503, "unavailable");
  }

  @Test
  void anOutcomeThatNobodyKnowsSaysSoAndWhatToDo() {
    // The outermost counts: what it was caused by may pass, but this must not be done twice.
    OutcomeUnknown unknown = new OutcomeUnknown("lost", new SQLException("gone", "08006"));
    assertAnswer(unknown, 503, "outcome-unknown");
    assertThat(Faults.problemOf(unknown).detail()).contains("same Idempotency-Key");
  }

  @Test
  void aRefusalStaysWhatItIs() {
    assertAnswer(Problem.notFound("such hold").asException(), 404, "not-found");
  }

  @Test
  void whatWillFailAgainIsInternal() {
    assertAnswer(new IllegalArgumentException("a mistake"), 500, "internal");
    assertAnswer(new SQLException("a mistake", "42601"), 500, "internal");
    assertAnswer(
        new PermanentFault("a mistake", new SQLException("planted", "55P03")) {}, 500, "internal");
  }

  private static void assertAnswer(Throwable thrown, int status, String slug) {
    for (Function<Throwable, Throwable> wrap : WRAPPINGS) {
      Throwable wrapped = wrap.apply(thrown);
      Problem problem = Faults.problemOf(wrapped);
      assertThat(problem.status()).as("%s", wrapped).isEqualTo(status);
      assertThat(problem.slug()).isEqualTo(slug);
      assertThat(problem.toAnswer().headers().containsKey("Retry-After")).isEqualTo(status == 503);
    }
  }
}
