package dev.lockstep.ledger;

import dev.lockstep.tx.Transactor;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** The two ways to ask. Callers who use both at once must get the same guarantees. */
enum Door {
  QUEUE {
    @Override
    <R extends LedgerOutcome> R ask(Transactor transactor, Ledger node, LedgerCommand<R> command) {
      return await(node.submit(command));
    }
  },
  CALLER {
    @Override
    <R extends LedgerOutcome> R ask(Transactor transactor, Ledger node, LedgerCommand<R> command) {
      return transactor.call(connection -> node.run(connection, command));
    }
  };

  abstract <R extends LedgerOutcome> R ask(
      Transactor transactor, Ledger node, LedgerCommand<R> command);

  /** Even callers come through the queue, odd ones with their own connection. */
  static Door of(int caller) {
    return caller % 2 == 0 ? QUEUE : CALLER;
  }

  static <T> T await(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }
}
