package dev.lockstep.combine;

import dev.lockstep.tx.LockstepException;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Answers a batch, all or nothing. What it throws says that nothing of the batch happened. */
@FunctionalInterface
interface BatchRunner<K, Q, A> {
  List<A> run(K key, List<Q> requests);

  /** Runs the operation in one transaction a batch; a doubtful COMMIT is looked up by its plan. */
  static <K, Q, S, P, A> BatchRunner<K, Q, A> inTransaction(
      Transactor transactor, Combined<K, Q, S, P, A> operation, TxOptions options) {
    return (key, requests) -> {
      PlanHolder<P> latest = new PlanHolder<>();
      P committed =
          transactor.call(
              options,
              connection -> latest.keep(apply(connection, operation, key, requests)),
              connection -> latest.ifCommitted(connection, operation, key));
      return operation.answers(committed);
    };
  }

  static <K, Q, S, P, A> P apply(
      Connection connection, Combined<K, Q, S, P, A> operation, K key, List<Q> requests)
      throws SQLException {
    S state = operation.lock(connection, key, requests);
    P plan = operation.decide(key, state, requests);
    operation.write(connection, key, plan);
    return plan;
  }

  /** The plan of the latest attempt, which is the one whose COMMIT was in doubt. */
  final class PlanHolder<P> {
    private @Nullable P plan;

    P keep(P plan) {
      this.plan = plan;
      return plan;
    }

    <K> Optional<P> ifCommitted(Connection connection, Combined<K, ?, ?, P, ?> operation, K key)
        throws SQLException {
      P doubtful = plan;
      return doubtful != null && operation.happened(connection, key, doubtful)
          ? Optional.of(doubtful)
          : Optional.empty();
    }
  }

  /** Whether a smaller batch might fare better than the one this came from. */
  static boolean blamesARequest(Throwable thrown) {
    return !(thrown instanceof LockstepException)
        || thrown instanceof dev.lockstep.tx.PermanentFault;
  }
}
