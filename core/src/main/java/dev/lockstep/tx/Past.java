package dev.lockstep.tx;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the earlier attempts of a call. Every result and every failure leaves the call
 * through it, so that nothing definite is said while a lost attempt may still commit.
 */
sealed interface Past {
  /** Every attempt so far has ended for certain. */
  Past CLEAR = new Clear();

  /** How results leave. */
  <T, R> R told(T result, Telling<T, R> telling);

  /** How failures leave; what nothing can be added to is thrown here as it is. */
  RuntimeException thrown(Throwable failure);

  /** What becomes of a result. */
  interface Telling<T, R> {
    R certain(T result);

    /**
     * Of a result whose call lost an attempt before.
     *
     * @param why for everything in the result that a lost attempt could still prove wrong
     */
    R afterLoss(T result, OutcomeUnknown why);

    /** Nothing is known of the result but that it was true for one attempt. */
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

    /** Each answer by itself. */
    static <A> Telling<List<Verdict<A>>, List<Told<A>>> each() {
      return new Telling<>() {
        @Override
        public List<Told<A>> certain(List<Verdict<A>> verdicts) {
          List<Told<A>> told = new ArrayList<>(verdicts.size());
          verdicts.forEach(verdict -> told.add(new Told.Answer<>(verdict.answer())));
          return told;
        }

        @Override
        public List<Told<A>> afterLoss(List<Verdict<A>> verdicts, OutcomeUnknown why) {
          List<Told<A>> told = new ArrayList<>(verdicts.size());
          for (Verdict<A> verdict : verdicts) {
            told.add(
                verdict instanceof Verdict.Final<A> known
                    ? new Told.Answer<>(known.answer())
                    : new Told.Unknown<>(why));
          }
          return told;
        }
      };
    }
  }

  /** Nothing was lost. */
  record Clear() implements Past {
    @Override
    public <T, R> R told(T result, Telling<T, R> telling) {
      return telling.certain(result);
    }

    @Override
    public RuntimeException thrown(Throwable failure) {
      throw Clear.<RuntimeException>asItIs(failure);
    }

    /** A checked exception, too, that the work threw undeclared. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException asItIs(Throwable failure) throws E {
      throw (E) failure;
    }
  }

  /** An attempt was lost that has no name to ask the server for: it may commit at any time. */
  record Lost(String label, SQLException how) implements Past {
    @Override
    public <T, R> R told(T result, Telling<T, R> telling) {
      return telling.afterLoss(result, unknown("its repetition was refused", null));
    }

    @Override
    public RuntimeException thrown(Throwable failure) {
      return failure instanceof OutcomeUnknown unknown
          ? unknown
          : unknown("its repetition failed", failure);
    }

    private OutcomeUnknown unknown(String then, @Nullable Throwable cause) {
      OutcomeUnknown unknown =
          new OutcomeUnknown(
              "%s: an attempt was lost with its connection and may still commit; %s"
                  .formatted(label, then),
              cause == null ? how : cause);
      if (cause != null && cause != how) {
        unknown.addSuppressed(how);
      }
      return unknown;
    }
  }
}
