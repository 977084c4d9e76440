package dev.lockstep.combine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * A request and the promise of its answer.
 *
 * @param exposed whether the caller holds the promise itself, and may attach to it or cancel it
 */
record Pending<Q, A>(Q request, CompletableFuture<A> answer, boolean exposed) {

  static <Q, A> Pending<Q, A> of(Q request, boolean exposed) {
    return new Pending<>(request, new CompletableFuture<>(), exposed);
  }

  /** Its caller gave up while it was waiting: it need not be run at all. */
  boolean abandoned() {
    return answer.isDone();
  }

  /** The answer, for a caller that waits; what it threw is thrown here as it is. */
  A await() {
    try {
      return answer.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      if (e.getCause() instanceof Error cause) {
        throw cause;
      }
      throw e;
    }
  }

  Delivery.Answer with(A value) {
    return new Delivery.Answer(exposed, () -> answer.complete(value));
  }

  Delivery.Answer with(Throwable fault) {
    return new Delivery.Answer(exposed, () -> answer.completeExceptionally(fault));
  }
}
