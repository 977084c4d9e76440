package dev.lockstep.combine;

import dev.lockstep.combine.Delivery.Answer;
import dev.lockstep.fault.DatabaseUnavailable;
import dev.lockstep.fault.LockTimeout;
import dev.lockstep.fault.TransientFault;
import dev.lockstep.sql.CallResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs a batch. If it fails and one request may be the cause, halves it until the bad request is
 * alone.
 *
 * <p>A batch that has the locks of its key can still fail because of one request: the request meets
 * another lock (a unique value that another transaction is about to insert), its statement is slow,
 * it conflicts every time, it calls a server that is down, or any of these happens at COMMIT. Each
 * such failure costs a wait. So after the first one, the halves run {@link BatchRunner#runHurried
 * hurried} and share one lock timeout in total. Requests without an answer by then get the first
 * failure. A lock on the key itself blocks every request, so the batch is not halved for it.
 *
 * <p>Serves one batch on one thread.
 */
final class Halving<K, Q, A> {
  private final BatchRunner<K, Q, A> runner;
  private final CombinerConfig config;
  private final BooleanSupplier halted;
  private final List<Answer> answers = new ArrayList<>();
  // The first failure of a batch that had the locks of its key.
  private @Nullable TransientFault met;
  private long metNanos;
  private boolean givenUp;

  /**
   * @param halted true once no further transaction may begin
   */
  Halving(BatchRunner<K, Q, A> runner, CombinerConfig config, BooleanSupplier halted) {
    this.runner = runner;
    this.config = config;
    this.halted = halted;
  }

  /** One answer per request. */
  List<Answer> decide(K key, List<Pending<Q, A>> pending) {
    if (!pending.isEmpty()) {
      decideSome(key, pending);
    }
    return answers;
  }

  private void decideSome(K key, List<Pending<Q, A>> pending) {
    TransientFault before = met;
    if (halted.getAsBoolean()) {
      answers.addAll(Pending.allWith(pending, new CombinerClosed(config.name())));
      return;
    }
    if (before != null && isOver()) {
      answers.addAll(Pending.allWith(pending, before));
      return;
    }
    List<Q> requests = Pending.requests(pending);
    List<CallResult<A>> told;
    try {
      told = before == null ? runner.run(key, requests) : runner.runHurried(key, requests);
    } catch (Throwable thrown) {
      Throwable fault = thrown instanceof FailedBeside beside ? beside.fault() : thrown;
      if (mayBeOneRequests(thrown) && pending.size() > 1) {
        int half = pending.size() / 2;
        decideSome(key, pending.subList(0, half));
        decideSome(key, pending.subList(half, pending.size()));
      } else {
        answers.addAll(Pending.allWith(pending, fault));
      }
      return;
    }
    answers.addAll(Pending.allWith(pending, told));
  }

  private boolean isOver() {
    Duration bound = config.transaction().lockTimeout();
    return givenUp || System.nanoTime() - metNanos >= bound.toNanos();
  }

  private boolean mayBeOneRequests(Throwable thrown) {
    if (thrown instanceof FailedBeside beside) {
      if (met == null && beside.passing() != null) {
        met = beside.passing();
        metNanos = System.nanoTime();
      }
      return true;
    }
    // The key itself is locked, or there is no database: the other requests would fail alike.
    givenUp |= thrown instanceof LockTimeout || thrown instanceof DatabaseUnavailable;
    return BatchRunner.blamesARequest(thrown);
  }

  /** A batch had the locks of its key and then failed, perhaps because of one request. */
  static final class FailedBeside extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Throwable fault;
    private final @Nullable TransientFault passing;

    /**
     * @param fault what the request at fault is told
     * @param passing the same fault if it is transient: the parts of the batch run hurried, and
     *     requests without an answer are told this; null if it is not
     */
    FailedBeside(Throwable fault, @Nullable TransientFault passing) {
      super(fault);
      this.fault = fault;
      this.passing = passing;
    }

    Throwable fault() {
      return fault;
    }

    @Nullable TransientFault passing() {
      return passing;
    }
  }
}
