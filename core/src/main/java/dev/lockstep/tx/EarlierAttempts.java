package dev.lockstep.tx;

import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.sql.AttemptResult;
import dev.lockstep.sql.CallResult;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What we know about a call's earlier attempts. Every result and failure leaves the call through
 * it, so that nothing definite is reported while a lost attempt may still commit.
 */
sealed interface EarlierAttempts {
  /** Every attempt so far has certainly ended. */
  EarlierAttempts ALL_ENDED = new AllEnded();

  /** Turns a result into what the caller gets. */
  <T, R> R report(T result, Report<T, R> report);

  /** Turns a failure into what the caller gets; throws it unchanged if there is nothing to add. */
  RuntimeException failure(Throwable failure);

  /** How a result is reported. */
  interface Report<T, R> {
    R certain(T result);

    /**
     * Reports a result of a call that lost an attempt before.
     *
     * @param why the answer in place of everything that the lost attempt could still prove wrong
     */
    R afterLoss(T result, OutcomeUnknown why);

    /**
     * Reports the result as a whole. After a loss it is unknown: it was true for one attempt only.
     */
    static <T> Report<T, T> whole() {
      return new Report<>() {
        @Override
        public T certain(T result) {
          return result;
        }

        @Override
        public T afterLoss(T result, OutcomeUnknown why) {
          throw why;
        }
      };
    }

    /** Reports each answer separately. */
    static <A> Report<List<AttemptResult<A>>, List<CallResult<A>>> each() {
      return new Report<>() {
        @Override
        public List<CallResult<A>> certain(List<AttemptResult<A>> answers) {
          List<CallResult<A>> results = new ArrayList<>(answers.size());
          answers.forEach(answer -> results.add(new CallResult.Answer<>(answer.answer())));
          return results;
        }

        @Override
        public List<CallResult<A>> afterLoss(List<AttemptResult<A>> answers, OutcomeUnknown why) {
          List<CallResult<A>> results = new ArrayList<>(answers.size());
          for (AttemptResult<A> answer : answers) {
            results.add(
                answer instanceof AttemptResult.Final<A> known
                    ? new CallResult.Answer<>(known.answer())
                    : new CallResult.Unknown<>(why));
          }
          return results;
        }
      };
    }
  }

  /** No attempt was lost. */
  record AllEnded() implements EarlierAttempts {
    @Override
    public <T, R> R report(T result, Report<T, R> report) {
      return report.certain(result);
    }

    @Override
    public RuntimeException failure(Throwable failure) {
      throw AllEnded.<RuntimeException>asItIs(failure);
    }

    /** Also throws a checked exception that the work threw undeclared. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException asItIs(Throwable failure) throws E {
      throw (E) failure;
    }
  }

  /** An attempt was lost whose transaction id is unknown: it may commit at any time. */
  record Lost(String label, SQLException how) implements EarlierAttempts {
    @Override
    public <T, R> R report(T result, Report<T, R> report) {
      return report.afterLoss(result, unknown("the retry was refused", null));
    }

    @Override
    public RuntimeException failure(Throwable failure) {
      return failure instanceof OutcomeUnknown unknown
          ? unknown
          : unknown("the retry failed", failure);
    }

    private OutcomeUnknown unknown(String then, @Nullable Throwable cause) {
      OutcomeUnknown unknown =
          new OutcomeUnknown(
              "%s: an attempt was lost with its connection and may still commit; %s; look it up"
                  .formatted(label, then),
              cause == null ? how : cause);
      if (cause != null && cause != how) {
        unknown.addSuppressed(how);
      }
      return unknown;
    }
  }
}
