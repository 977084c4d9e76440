package dev.lockstep.hold;

import dev.lockstep.combine.Overloaded;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The answer to an {@link Ask}. A refusal that expired holds may still cure is {@link #again} and
 * carries no outcome: nothing that is only provisional can reach a caller.
 *
 * @param outcome null for a sweep, and where the ask must be decided again
 * @param again the ask must be decided again: more has expired than the batch could take back, or
 *     it is put off
 * @param putOff to the next batch, which begins at once; see {@link Veto}
 * @param swept expired holds taken back by the batch
 */
record Reply(@Nullable HoldOutcome outcome, boolean again, boolean putOff, int swept) {
  /** Between two looks at expired holds that another transaction has locked. */
  private static final Executor SOON = CompletableFuture.delayedExecutor(5, TimeUnit.MILLISECONDS);

  Reply {
    if (again && outcome != null) {
      throw new IllegalArgumentException("A provisional outcome is told to nobody");
    }
  }

  /** To a command. */
  static Reply to(Plan.Answer answer, int swept) {
    return new Reply(answer.askAgain() ? null : answer.outcome(), answer.askAgain(), false, swept);
  }

  /** To a sweep. */
  static Reply swept(int swept, boolean more) {
    return new Reply(null, more, false, swept);
  }

  /** To a command that the next batch decides. */
  static Reply putOff(int swept) {
    return new Reply(null, true, true, swept);
  }

  /**
   * When to ask again. Without progress, though it was looked for, another batch has what is
   * expired, and may wait.
   */
  Executor next(Ask ask) {
    return swept > 0 || !ask.thorough() ? Runnable::run : SOON;
  }

  /** Completes what a caller waits for, with the outcome or with the fault there was instead. */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  static <R extends HoldOutcome> void tell(
      CompletableFuture<R> answer, @Nullable Reply reply, @Nullable Throwable thrown) {
    Throwable cause = thrown instanceof CompletionException ? thrown.getCause() : thrown;
    if (cause instanceof Overloaded overloaded) {
      answer.complete((R) new HoldOutcome.Overloaded(overloaded.retryAfter()));
    } else if (cause != null) {
      answer.completeExceptionally(cause);
    } else {
      answer.complete((R) Objects.requireNonNull(Objects.requireNonNull(reply).outcome()));
    }
  }
}
