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
sealed interface Past {
  /** Every attempt so far has certainly ended. */
  Past CLEAR = new Clear();

  /** Turns a result into what the caller gets. */
  <T, R> R told(T result, Telling<T, R> telling);

  /** Turns a failure into what the caller gets; throws it unchanged if there is nothing to add. */
  RuntimeException thrown(Throwable failure);

  /** How a result is reported. */
  interface Telling<T, R> {
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
    static <T> Telling<T, T> whole() {
      return new Telling<>() {
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
    static <A> Telling<List<AttemptResult<A>>, List<CallResult<A>>> each() {
      return new Telling<>() {
        @Override
        public List<CallResult<A>> certain(List<AttemptResult<A>> verdicts) {
          List<CallResult<A>> told = new ArrayList<>(verdicts.size());
          verdicts.forEach(verdict -> told.add(new CallResult.Answer<>(verdict.answer())));
          return told;
        }

        @Override
        public List<CallResult<A>> afterLoss(List<AttemptResult<A>> verdicts, OutcomeUnknown why) {
          List<CallResult<A>> told = new ArrayList<>(verdicts.size());
          for (AttemptResult<A> verdict : verdicts) {
            told.add(
                verdict instanceof AttemptResult.Final<A> known
                    ? new CallResult.Answer<>(known.answer())
                    : new CallResult.Unknown<>(why));
          }
          return told;
        }
      };
    }
  }

  /** No attempt was lost. */
  record Clear() implements Past {
    @Override
    public <T, R> R told(T result, Telling<T, R> telling) {
      return telling.certain(result);
    }

    @Override
    public RuntimeException thrown(Throwable failure) {
      throw Clear.<RuntimeException>asItIs(failure);
    }

    /** Also throws a checked exception that the work threw undeclared. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException asItIs(Throwable failure) throws E {
      throw (E) failure;
    }
  }

  /** An attempt was lost whose transaction id is unknown: it may commit at any time. */
  record Lost(String label, SQLException how) implements Past {
    @Override
    public <T, R> R told(T result, Telling<T, R> telling) {
      return telling.afterLoss(result, unknown("the retry was refused", null));
    }

    @Override
    public RuntimeException thrown(Throwable failure) {
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
