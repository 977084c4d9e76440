package dev.lockstep.combine;

import dev.lockstep.tx.Exchange;
import dev.lockstep.tx.LockstepException;
import dev.lockstep.tx.PermanentFault;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Answers a batch, all or nothing. What it throws says that nothing of the batch happened. */
@FunctionalInterface
interface BatchRunner<K, Q, A> {
  List<A> run(K key, List<Q> requests);

  /** Whether the calling thread may run a batch itself. */
  default boolean mayRunHere() {
    return true;
  }

  /** Runs the operation in one transaction a batch; a doubtful COMMIT is looked up by its plan. */
  record InTransaction<K, Q, S, P, A>(
      Transactor transactor,
      Combined<K, Q, S, P, A> operation,
      TxOptions options,
      CombinerListener listener)
      implements BatchRunner<K, Q, A> {

    @Override
    public List<A> run(K key, List<Q> requests) {
      Latest<P, A> latest = new Latest<>();
      List<A> answers =
          transactor.exchange(
              options,
              exchange -> latest.keep(decide(exchange, operation, key, requests, listener)),
              connection -> latest.ifCommitted(connection, operation, key));
      latest.committed(operation, key);
      return answers;
    }

    /** Not inside a transaction: the batch has one of its own, and must not join. */
    @Override
    public boolean mayRunHere() {
      return !transactor.inTransaction();
    }
  }

  /**
   * The answers are made and counted before anything is committed: an operation that fails at them
   * must not have happened.
   */
  static <K, Q, S, P, A> Decided<P, A> decide(
      Exchange exchange,
      Combined<K, Q, S, P, A> operation,
      K key,
      List<Q> requests,
      CombinerListener listener)
      throws SQLException {
    long askedNanos = System.nanoTime();
    S state = operation.lock(exchange, key, requests);
    listener.onLocked(Duration.ofNanos(System.nanoTime() - askedNanos));
    P plan = operation.decide(key, state, requests);
    operation.write(exchange, key, plan);
    List<A> answers = operation.answers(plan);
    if (answers.size() != requests.size()) {
      throw new IllegalStateException(
          "%d answers to %d requests".formatted(answers.size(), requests.size()));
    }
    return new Decided<>(plan, answers);
  }

  /** A plan that is written and not yet committed, and what will be answered then. */
  record Decided<P, A>(P plan, List<A> answers) {}

  /** What the latest attempt decided, which is the one whose COMMIT was in doubt. */
  final class Latest<P, A> {
    private @Nullable Decided<P, A> latest;

    List<A> keep(Decided<P, A> decided) {
      latest = decided;
      return decided.answers();
    }

    <K> void committed(Combined<K, ?, ?, P, A> operation, K key) {
      if (latest != null) {
        operation.committed(key, latest.plan());
      }
    }

    <K> Optional<List<A>> ifCommitted(
        Connection connection, Combined<K, ?, ?, P, A> operation, K key) throws SQLException {
      Decided<P, A> doubtful = latest;
      return doubtful != null && operation.happened(connection, key, doubtful.plan())
          ? Optional.of(doubtful.answers())
          : Optional.empty();
    }
  }

  /** Whether a smaller batch might fare better than the one this came from. */
  static boolean blamesARequest(Throwable thrown) {
    return !(thrown instanceof LockstepException) || thrown instanceof PermanentFault;
  }
}
