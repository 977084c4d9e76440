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
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Asks until the answer is final, through a combiner's queue or in the caller's transaction. Each
 * round ends some expired items. A request that runs out of {@link Patience} fails with {@link
 * StillExpiring}.
 *
 * <p>Thread-safe.
 *
 * @param <K> what contends
 * @param <Q> a request
 * @param <A> an answer
 */
public final class Asker<K, Q, A extends Provisional> {
  /** Pause between two rounds while another transaction has the expired items locked. */
  private static final long SOON_NANOS = 5_000_000;

  private final Combiner<K, Q, A> combiner;
  private final Combined<K, Q, ?, ?, A> operation;
  private final TxOptions options;
  private final UnaryOperator<Q> thoroughly;
  private final Function<K, String> expiring;

  /**
   * @param options of the combiner's transactions; they limit the wait
   * @param thoroughly the same request, to be decided only after a search for expired items
   * @param expiring names the expiring items of a key, such as "holds of scope 7"
   */
  public Asker(
      Combiner<K, Q, A> combiner,
      Combined<K, Q, ?, ?, A> operation,
      TxOptions options,
      UnaryOperator<Q> thoroughly,
      Function<K, String> expiring) {
    this.combiner = combiner;
    this.operation = operation;
    this.options = options;
    this.thoroughly = thoroughly;
    this.expiring = expiring;
  }

  /** Queues a request and passes its final answer, or the exception, to the callback. */
  public void submit(K key, Q request, BiConsumer<@Nullable A, @Nullable Throwable> told) {
    submit(key, request, false, patience(), told);
  }

  private void submit(
      K key,
      Q request,
      boolean thorough,
      Patience patience,
      BiConsumer<@Nullable A, @Nullable Throwable> told) {
    var unused =
        combiner
            .submit(key, request)
            .whenComplete(
                (answer, thrown) -> {
                  if (thrown != null) {
                    told.accept(
                        null, thrown instanceof CompletionException ? thrown.getCause() : thrown);
                  } else if (!answer.again()) {
                    told.accept(answer, null);
                  } else if (answer.putOff()) {
                    submit(key, request, thorough, patience, told);
                  } else if (patience.lasts(answer.swept(), System.nanoTime())) {
                    // A thorough round without progress means that another transaction has the
                    // items: pause.
                    Q again = thoroughly.apply(request);
                    Runnable next = () -> submit(key, again, true, patience, told);
                    if (answer.swept() > 0 || !thorough) {
                      next.run();
                    } else {
                      combiner.later(SOON_NANOS, next);
                    }
                  } else {
                    told.accept(null, new StillExpiring(expiring.apply(key)));
                  }
                });
  }

  /** As {@link Combiner#call}, with a final answer. */
  public A call(K key, Q request) {
    A first = combiner.call(key, request);
    if (!first.again()) {
      return first;
    }
    Q thorough = thoroughly.apply(request);
    Patience patience = patience();
    while (true) {
      A answer = combiner.call(key, thorough);
      if (!answer.again()) {
        return answer;
      }
      if (!answer.putOff()) {
        if (!patience.lasts(answer.swept(), System.nanoTime())) {
          throw new StillExpiring(expiring.apply(key));
        }
        if (answer.swept() == 0) {
          LockSupport.parkNanos(this, SOON_NANOS);
        }
      }
    }
  }

  /**
   * As {@link Combiner#apply(Exchange, Combined, Object, List)}, with final answers. Requests take
   * effect in the order given: the operation decides none after one that must be decided again.
   *
   * @param requests each to be decided only after a search for expired items
   */
  public List<A> apply(Exchange exchange, K key, List<Q> requests) throws SQLException {
    List<A> answers = new ArrayList<>(requests.size());
    Patience patience = patience();
    while (answers.size() < requests.size()) {
      List<Q> open = requests.subList(answers.size(), requests.size());
      List<A> round = Combiner.apply(exchange, operation, key, open);
      A first = round.get(0);
      if (first.again() && first.swept() == 0) {
        // Don't wait: the transaction that holds the expired items may wait for our locks.
        throw SqlFault.conflict(
            "Expired %s are locked by another transaction".formatted(expiring.apply(key)));
      }
      for (A answer : round) {
        if (answer.again()) {
          break;
        }
        answers.add(answer);
      }
      if (answers.size() < requests.size() && !patience.lasts(first.swept(), System.nanoTime())) {
        throw new StillExpiring(expiring.apply(key));
      }
    }
    return List.copyOf(answers);
  }

  private Patience patience() {
    return new Patience(options, System.nanoTime());
  }
}
