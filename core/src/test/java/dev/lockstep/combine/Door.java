package dev.lockstep.combine;

import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxWork;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** The two ways to ask a block. Callers who use both at once must get the same guarantees. */
public enum Door {
  QUEUE,
  CALLER;

  /** Even callers come through the queue, odd ones with their own connection. */
  public static Door of(int caller) {
    return caller % 2 == 0 ? QUEUE : CALLER;
  }

  /**
   * Asks this way.
   *
   * @param submit through the block's queue
   * @param run on a connection of the caller's
   */
  public <R> R ask(Transactor transactor, Supplier<CompletionStage<R>> submit, TxWork<R> run) {
    return this == QUEUE ? await(submit.get()) : transactor.call(run);
  }

  public static <T> T await(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }
}
