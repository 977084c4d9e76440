package dev.lockstep.combine;

import dev.lockstep.fault.SqlFault;
import dev.lockstep.sql.Exchange;
import dev.lockstep.tx.TxOptions;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Decides commands again until the reply is final, through a combiner's queue or in the caller's
 * transaction. Each round ends some expired items. A command that runs out of {@link Patience}
 * fails with {@link StillExpiring}.
 *
 * <p>Thread-safe.
 */
final class ProvisionalRetry<K extends Comparable<K>, C, O> {
  /** Pause between two rounds while another transaction has the expired items locked. */
  private static final long SOON_NANOS = 5_000_000;

  private final Combiner<K, QueuedCommand<C, O>, CommandReply<O>> combiner;
  private final CommandOperation<K, C, O, ?, ?> operation;
  private final TxOptions options;

  /**
   * @param options of the combiner's transactions; they limit the wait
   */
  ProvisionalRetry(
      Combiner<K, QueuedCommand<C, O>, CommandReply<O>> combiner,
      CommandOperation<K, C, O, ?, ?> operation,
      TxOptions options) {
    this.combiner = combiner;
    this.operation = operation;
    this.options = options;
  }

  /** Queues a command and passes its final reply, or the exception, to the callback. */
  void submit(
      K key,
      QueuedCommand<C, O> command,
      BiConsumer<@Nullable CommandReply<O>, @Nullable Throwable> told) {
    submit(key, command, false, patience(), told);
  }

  private void submit(
      K key,
      QueuedCommand<C, O> command,
      boolean repeated,
      Patience patience,
      BiConsumer<@Nullable CommandReply<O>, @Nullable Throwable> told) {
    var unused =
        combiner
            .submit(key, command)
            .whenComplete(
                (reply, thrown) -> {
                  if (thrown != null) {
                    told.accept(
                        null, thrown instanceof CompletionException ? thrown.getCause() : thrown);
                  } else if (!reply.again()) {
                    told.accept(reply, null);
                  } else if (reply.inNextBatch()) {
                    submit(key, command, repeated, patience, told);
                  } else if (patience.lasts(reply.swept(), System.nanoTime())) {
                    // A sweep without progress means that another transaction has the items: pause.
                    QueuedCommand<C, O> again = command.sweepingFirst();
                    Runnable next = () -> submit(key, again, true, patience, told);
                    if (reply.swept() > 0 || !repeated) {
                      next.run();
                    } else {
                      combiner.later(SOON_NANOS, next);
                    }
                  } else {
                    told.accept(null, stillExpiring(key));
                  }
                });
  }

  /** As {@link Combiner#call}, with a final reply. */
  CommandReply<O> call(K key, QueuedCommand<C, O> command) {
    CommandReply<O> first = combiner.call(key, command);
    if (!first.again()) {
      return first;
    }
    QueuedCommand<C, O> again = command.sweepingFirst();
    Patience patience = patience();
    while (true) {
      CommandReply<O> reply = combiner.call(key, again);
      if (!reply.again()) {
        return reply;
      }
      if (!reply.inNextBatch()) {
        if (!patience.lasts(reply.swept(), System.nanoTime())) {
          throw stillExpiring(key);
        }
        if (reply.swept() == 0) {
          LockSupport.parkNanos(this, SOON_NANOS);
        }
      }
    }
  }

  /**
   * As {@link Combiner#apply(Exchange, Combined, Object, List)}, with final replies. Commands take
   * effect in the order given: the operation decides none after one that must be decided again.
   */
  List<CommandReply<O>> join(Exchange exchange, K key, List<QueuedCommand<C, O>> commands)
      throws SQLException {
    List<CommandReply<O>> replies = new ArrayList<>(commands.size());
    Patience patience = patience();
    while (replies.size() < commands.size()) {
      List<QueuedCommand<C, O>> open = commands.subList(replies.size(), commands.size());
      List<CommandReply<O>> round = Combiner.apply(exchange, operation, key, open);
      CommandReply<O> first = round.get(0);
      if (first.again() && first.swept() == 0) {
        // Don't wait: the transaction that holds the expired items may wait for our locks.
        throw SqlFault.conflict(
            "Expired %s are locked by another transaction".formatted(operation.expiringOf(key)));
      }
      for (CommandReply<O> reply : round) {
        if (reply.again()) {
          break;
        }
        replies.add(reply);
      }
      if (replies.size() < commands.size() && !patience.lasts(first.swept(), System.nanoTime())) {
        throw stillExpiring(key);
      }
    }
    return List.copyOf(replies);
  }

  private StillExpiring stillExpiring(K key) {
    return new StillExpiring(operation.expiringOf(key));
  }

  private Patience patience() {
    return new Patience(options, System.nanoTime());
  }
}
