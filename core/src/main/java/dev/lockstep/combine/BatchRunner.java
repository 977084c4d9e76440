package dev.lockstep.combine;

import dev.lockstep.combine.Halving.FailedBeside;
import dev.lockstep.fault.LockstepException;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.PermanentFault;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.fault.TransientFault;
import dev.lockstep.sql.AttemptResult;
import dev.lockstep.sql.CallResult;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.Listening;
import dev.lockstep.tx.RetryPolicy;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Answers a batch, all or nothing. Any exception but {@link OutcomeUnknown} means that nothing of
 * the batch happened. {@link FailedBeside} means so too, whatever it carries.
 */
@FunctionalInterface
interface BatchRunner<K, Q, A> {
  List<CallResult<A>> run(K key, List<Q> requests);

  /** As {@link #run}, with short timeouts, for a part of a batch that failed by taking too long. */
  default List<CallResult<A>> runHurried(K key, List<Q> requests) {
    return run(key, requests);
  }

  /** Refuses a request of a thread whose framework has a transaction under way. */
  default void requireOutsideHost() {}

  /** Whether the calling thread may run a batch. */
  default boolean mayRunHere() {
    return true;
  }

  /**
   * Runs the operation in one transaction per batch. If COMMIT is in doubt, looks for the batch's
   * trace.
   */
  record InTransaction<K, Q, S, P, A>(
      Transactor transactor,
      Combined<K, Q, S, P, A> operation,
      TxOptions options,
      CombinerListener listener)
      implements BatchRunner<K, Q, A> {

    /** A hurried batch waits for one lock at most {@code lockTimeout / BRIEFLY}. */
    private static final int BRIEFLY = 16;

    /** A statement of a hurried batch runs at most {@code lockTimeout / QUICKLY}. */
    private static final int QUICKLY = 12;

    private static final int ATTEMPTS_IN_A_HURRY = 3;

    @Override
    public List<CallResult<A>> run(K key, List<Q> requests) {
      return run(options, key, requests);
    }

    @Override
    public List<CallResult<A>> runHurried(K key, List<Q> requests) {
      return run(hurried(), key, requests);
    }

    private TxOptions hurried() {
      long lockMs = options.lockTimeout().toMillis();
      RetryPolicy retry = options.retry();
      return options
          .withLockTimeout(Duration.ofMillis(Math.max(1, lockMs / BRIEFLY)))
          .withStatementTimeout(Duration.ofMillis(Math.max(1, lockMs / QUICKLY)))
          .withRetry(
              new RetryPolicy(
                  Math.min(ATTEMPTS_IN_A_HURRY, retry.maxAttempts()),
                  retry.firstBackoff(),
                  retry.maxBackoff()));
    }

    private List<CallResult<A>> run(TxOptions chosen, K key, List<Q> requests) {
      Latest<P, A> latest = new Latest<>();
      latest.interrupted = Thread.interrupted();
      Consumer<Duration> whenLocked =
          waited -> {
            latest.locked = true;
            Listening.tell(() -> listener.onLocked(waited));
          };
      List<CallResult<A>> told;
      try {
        told =
            transactor.exchange(
                chosen,
                exchange -> {
                  latest.begin(exchange);
                  try {
                    WrittenBatch<P, A> decided =
                        decide(exchange, operation, key, requests, whenLocked);
                    return latest.keep(decided, Recognition.of(exchange, operation, key, decided));
                  } catch (Throwable e) {
                    latest.thrown = e;
                    throw e;
                  } finally {
                    // An interrupt from a companion or its caller must not end the retries.
                    latest.interrupted |= Thread.interrupted();
                  }
                },
                latest::ifCommitted);
      } catch (TransientFault e) {
        throw latest.failedBeside(e) ? new FailedBeside(e, e) : e;
      } catch (OutcomeUnknown e) {
        // If the work threw it, it is about something else: this transaction rolled back.
        throw e == latest.thrown ? new FailedBeside(e, null) : e;
      } catch (RuntimeException e) {
        throw latest.locked && e == latest.thrown
            ? new FailedBeside(e, SqlFault.passingBehind(e).orElse(null))
            : e;
      } finally {
        if (latest.interrupted) {
          Thread.currentThread().interrupt();
        }
      }
      latest.committed(operation, key);
      return told;
    }

    @Override
    public void requireOutsideHost() {
      transactor.requireOutsideHost(
          "'" + options.label() + "'", "join with that transaction's connection");
    }

    /** Not inside a transaction: the batch needs its own and must not join. */
    @Override
    public boolean mayRunHere() {
      return !transactor.inTransaction();
    }
  }

  /**
   * Locks, decides, writes, and builds the answers before anything commits: an operation that
   * cannot answer must not take effect.
   */
  static <K, Q, S, P, A> WrittenBatch<P, A> decide(
      Exchange exchange,
      Combined<K, Q, S, P, A> operation,
      K key,
      List<Q> requests,
      Consumer<Duration> whenLocked)
      throws SQLException {
    long askedNanos = System.nanoTime();
    S locked = operation.lock(exchange, key, requests);
    whenLocked.accept(Duration.ofNanos(System.nanoTime() - askedNanos));
    S state = operation.consult(exchange, key, locked, requests);
    P plan = operation.write(exchange, key, operation.decide(key, state, requests));
    List<AttemptResult<A>> answers = operation.answers(plan);
    if (answers.size() != requests.size()) {
      throw new IllegalStateException(
          "The operation gave %d answers to %d requests"
              .formatted(answers.size(), requests.size()));
    }
    return new WrittenBatch<>(plan, answers);
  }

  /** A written, uncommitted plan and its answers. */
  record WrittenBatch<P, A>(P plan, List<AttemptResult<A>> answers) {}

  /** Runs the operation in a foreign transaction, where we make no attempts and lose none. */
  static <K, Q, S, P, A> List<A> apply(
      Exchange exchange, Combined<K, Q, S, P, A> operation, K key, List<Q> requests)
      throws SQLException {
    return decide(exchange, operation, key, requests, waited -> {}).answers().stream()
        .map(AttemptResult::answer)
        .toList();
  }

  /** How to find a batch whose COMMIT was lost. */
  @FunctionalInterface
  interface Recognition {
    boolean happened(Connection connection) throws SQLException;

    /** Adds a mark to the transaction if nothing else identifies the batch. */
    static <K, P, A> Recognition of(
        Exchange exchange, Combined<K, ?, ?, P, A> operation, K key, WrittenBatch<P, A> decided)
        throws SQLException {
      Trace trace = operation.trace(key, decided.plan());
      if (trace instanceof Trace.OwnRows rows) {
        return rows.look()::finds;
      }
      if (trace instanceof Trace.Mark wanted) {
        BatchMark mark = BatchMark.of(wanted);
        mark.leave(exchange);
        return mark::isIn;
      }
      return connection -> true;
    }
  }

  /** The latest attempt's plan and answers; this is the attempt whose COMMIT may be in doubt. */
  final class Latest<P, A> {
    private @Nullable WrittenBatch<P, A> latest;
    private Recognition recognition = connection -> false;
    // Whether the attempt had the locks of its key, what its work threw, and what COMMIT threw.
    private boolean locked;
    private @Nullable Throwable thrown;
    private @Nullable Throwable notCommitted;
    // Whether any attempt was interrupted. Hidden from the retries and restored at the end.
    private boolean interrupted;

    void begin(Exchange exchange) {
      locked = false;
      thrown = null;
      notCommitted = null;
      exchange.whenNotCommitted(e -> notCommitted = e);
    }

    /**
     * Whether the last attempt failed after it had the locks of its key, in its work or at COMMIT,
     * so that one request may be the cause. An attempt that gets no connection, or not its locks,
     * fails every request alike.
     */
    boolean failedBeside(TransientFault fault) {
      return locked && (isOf(thrown, fault) || isOf(notCommitted, fault));
    }

    private static boolean isOf(@Nullable Throwable thrown, Throwable fault) {
      return thrown != null && (fault == thrown || fault.getCause() == thrown);
    }

    List<AttemptResult<A>> keep(WrittenBatch<P, A> decided, Recognition by) {
      latest = decided;
      recognition = by;
      return decided.answers();
    }

    <K> void committed(Combined<K, ?, ?, P, A> operation, K key) {
      if (latest != null) {
        operation.committed(key, latest.plan());
      }
    }

    Optional<List<AttemptResult<A>>> ifCommitted(Connection connection) throws SQLException {
      WrittenBatch<P, A> doubtful = latest;
      return doubtful != null && recognition.happened(connection)
          ? Optional.of(doubtful.answers())
          : Optional.empty();
    }
  }

  /** Whether one request may be the cause, so that a smaller batch might succeed. */
  static boolean blamesARequest(Throwable thrown) {
    return !(thrown instanceof LockstepException) || thrown instanceof PermanentFault;
  }
}
