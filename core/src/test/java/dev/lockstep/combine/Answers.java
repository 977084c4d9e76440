package dev.lockstep.combine;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** What became of a request. */
final class Answers {
  private Answers() {}

  static boolean isAnswered(CompletionStage<?> stage) {
    return stage.toCompletableFuture().isDone();
  }

  /** The answer. */
  static <A> A of(CompletionStage<A> stage) {
    try {
      return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
    } catch (ExecutionException | InterruptedException | TimeoutException e) {
      throw new AssertionError("No answer", e);
    }
  }

  /** The exception it was answered with. */
  static Throwable faultOf(CompletionStage<?> stage) {
    try {
      Object answer = stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
      throw new AssertionError("Not failed, but answered " + answer);
    } catch (ExecutionException e) {
      return e.getCause() == null ? e : e.getCause();
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError("No answer", e);
    }
  }
}
