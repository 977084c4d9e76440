package dev.lockstep.combine;

import dev.lockstep.combine.Delivery.Answer;
import dev.lockstep.fault.LockstepException;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.Listening;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Combines the contended writes of many callers into few transactions.
 *
 * <p>Requests queue per key. A writer takes what waits for one key, decides and writes it in one
 * transaction, and answers. There is no fixed delay: a lone request is at once a batch of one. A
 * batch grows only by requests that arrive while the previous one commits, or while a busy key
 * gathers ({@link CombinerConfig#gather}). Each key has one writer at a time. Keys with waiting
 * requests take turns, so a hot key cannot starve a quiet one.
 *
 * <p>If a batch fails and one request may be the cause, it is split until the bad request is alone;
 * only that caller gets the exception ({@link Halving}). A full queue refuses at once with {@link
 * CombinerOverloaded}.
 *
 * <p>Writer threads start on demand and end when idle. A caller that waits and finds no other
 * request runs its own batch. Callbacks never run on a writer, nor on the thread that closes.
 *
 * <p>Thread-safe. {@link #close} lets waiting requests finish, in bounded time, and answers every
 * caller.
 *
 * @param <K> what contends
 * @param <Q> a request
 * @param <A> an answer
 */
public final class Combiner<K, Q, A> implements AutoCloseable {
  private final BatchRunner<K, Q, A> runner;
  private final CombinerConfig config;
  private final Delivery delivery;
  private final WriterThreads threads;
  private final ServiceRate rate = new ServiceRate();

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition quiet = lock.newCondition();
  private final Gathering gathering;
  // Guarded by lock. A key has an entry while its requests wait or run.
  private final Map<K, KeyQueue<K, Q, A>> queues = new HashMap<>();
  // Guarded by lock. Queues with requests but no writer, longest waiting first.
  private final ArrayDeque<KeyQueue<K, Q, A>> turns = new ArrayDeque<>();
  // Changed under the lock. Batches taken from their queue and not yet answered.
  private final Set<Batch<Q, A>> unanswered = ConcurrentHashMap.newKeySet();
  private int waiting;
  private int writers;
  private boolean closed;

  // Per instance: a batch of one combiner may call another combiner.
  @SuppressWarnings("ThreadLocalUsage")
  private final ThreadLocal<Boolean> inBatch = ThreadLocal.withInitial(() -> false);

  // Set when the drain timeout is over: no batch begins after that.
  private volatile boolean halted;

  /** Creates a combiner. Stages complete on callback threads of its own. */
  public static <K, Q, S, P, A> Combiner<K, Q, A> on(
      Transactor transactor, Combined<K, Q, S, P, A> operation, CombinerConfig config) {
    return new Combiner<>(
        new BatchRunner.InTransaction<>(
            transactor,
            operation,
            config.transaction().withLabel(config.name()),
            config.listener()),
        config);
  }

  Combiner(BatchRunner<K, Q, A> runner, CombinerConfig config) {
    this(runner, config, new CallbackThreads(config.name() + "-answers"));
  }

  Combiner(BatchRunner<K, Q, A> runner, CombinerConfig config, Executor answering) {
    this.runner = runner;
    this.config = config;
    this.delivery = new Delivery(answering);
    this.threads = new WriterThreads(config.name());
    this.gathering = new Gathering(lock.newCondition(), config.gather());
  }

  /**
   * Queues a request. The stage completes with its answer after the transaction committed, or with
   * a {@link LockstepException}. Cancelling the stage withdraws a request that still waits; after
   * that it has no effect.
   *
   * <p>Callbacks may block. Up to {@value CallbackThreads#MAX_THREADS} run at once; if all of them
   * block, later stages of this combiner wait, but no {@link #call} and no other combiner does.
   */
  public CompletionStage<A> submit(K key, Q request) {
    runner.requireOutsideHost();
    return enqueue(key, Pending.of(request, true)).answer();
  }

  /**
   * Queues a request and waits for its answer. If nothing is ahead of it, the calling thread runs
   * the batch of this one request.
   *
   * @throws LockstepException as the stage of {@link #submit} would
   * @throws IllegalStateException inside a batch of this combiner, which would wait for itself
   */
  public A call(K key, Q request) {
    runner.requireOutsideHost();
    if (inBatch.get()) {
      throw new IllegalStateException(
          config.name()
              + ": a batch waits for an answer that only a later batch can give; submit the request"
              + " without waiting, or run it on the batch's own connection");
    }
    Pending<Q, A> pending = Pending.of(request, false);
    if (!serveHere(key, pending)) {
      enqueue(key, pending);
    }
    return pending.await();
  }

  /**
   * Decides requests of one key on the caller's connection, in the caller's transaction. The caller
   * commits. After a failure the caller must roll back.
   */
  public static <K, Q, S, P, A> List<A> apply(
      Connection connection, Combined<K, Q, S, P, A> operation, K key, List<Q> requests)
      throws SQLException {
    return apply(Exchange.within(connection), operation, key, requests);
  }

  /** As {@code apply} on a connection, inside another block's batch. */
  public static <K, Q, S, P, A> List<A> apply(
      Exchange exchange, Combined<K, Q, S, P, A> operation, K key, List<Q> requests)
      throws SQLException {
    return BatchRunner.apply(exchange, operation, key, requests);
  }

  /** The number of requests that wait for a writer, over all keys. */
  public int waiting() {
    lock.lock();
    try {
      return waiting;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Refuses new requests, lets waiting ones finish within the drain timeout, and answers the rest:
   * {@link CombinerClosed} for requests not begun, {@link OutcomeUnknown} for those whose
   * transaction does not end.
   */
  @Override
  public void close() {
    List<Pending<Q, A>> neverBegun = new ArrayList<>();
    lock.lock();
    try {
      closed = true;
      gathering.disturb();
      awaitQuiet();
      for (KeyQueue<K, Q, A> queue : queues.values()) {
        neverBegun.addAll(queue.clear());
      }
      waiting = 0;
      turns.clear();
    } finally {
      lock.unlock();
    }
    halted = true;
    // On fresh threads: callbacks may block all the others.
    Delivery last = new Delivery(new CallbackThreads(config.name() + "-last-answers"));
    last.deliver(Pending.allWith(neverBegun, new CombinerClosed(config.name())), () -> {});
    threads.close();
    String why = config.name() + ": closed before the transaction ended; look the effect up";
    last.settle(List.copyOf(unanswered), new OutcomeUnknown(why, null));
    Pending.awaitAnswers(neverBegun);
  }

  /** Runs a task on a callback thread, after a pause. */
  void later(long pauseNanos, Runnable task) {
    delivery.later(pauseNanos, task);
  }

  private Pending<Q, A> enqueue(K key, Pending<Q, A> pending) {
    LockstepException refusal = null;
    boolean startWriter = false;
    lock.lock();
    try {
      KeyQueue<K, Q, A> queue = queues.get(key);
      int waitingForKey = queue == null ? 0 : queue.size();
      if (closed) {
        refusal = new CombinerClosed(config.name());
      } else if (waitingForKey >= config.maxWaitingPerKey()) {
        refusal = overloaded(waitingForKey, 1);
      } else if (waiting >= config.maxWaiting()) {
        refusal = overloaded(waiting, config.maxWriters());
      } else {
        startWriter = add(queue, key, pending);
      }
    } finally {
      lock.unlock();
    }
    if (refusal != null) {
      pending.answer().completeExceptionally(refusal);
    } else if (startWriter) {
      startWriter();
    }
    return pending;
  }

  /** Under the lock. True if the caller must start a writer. */
  private boolean add(@Nullable KeyQueue<K, Q, A> known, K key, Pending<Q, A> pending) {
    KeyQueue<K, Q, A> queue = known == null ? new KeyQueue<>(key) : known;
    if (known == null) {
      queues.put(key, queue);
      turns.add(queue);
    }
    queue.add(pending);
    waiting++;
    if (known == null || queue.size() == Gathering.ENOUGH) {
      gathering.disturb();
    }
    // A known queue has a writer or waits for its turn.
    if (known != null || writers >= config.maxWriters()) {
      return false;
    }
    writers++;
    return true;
  }

  private CombinerOverloaded overloaded(int queued, int servedBy) {
    return new CombinerOverloaded(this, config.name(), queued, rate.retryAfter(queued, servedBy));
  }

  private void startWriter() {
    try {
      threads.start(this::write);
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      // No thread is available: the caller's thread serves the queue instead.
      write();
    }
  }

  /**
   * Runs the request on the calling thread if nothing is ahead of it: the caller waits anyway, and
   * waking another thread takes as long as a small transaction. False if the request must queue.
   */
  private boolean serveHere(K key, Pending<Q, A> pending) {
    Thread caller = Thread.currentThread();
    // Fork-join threads are few and shared: they queue, and the pool compensates. An interrupted
    // caller queues, too: its interrupt would end the transaction's retries.
    if (caller instanceof ForkJoinWorkerThread || caller.isInterrupted() || !runner.mayRunHere()) {
      return false;
    }
    KeyQueue<K, Q, A> queue = new KeyQueue<>(key);
    Batch<Q, A> batch = new Batch<>(List.of(pending), 0);
    lock.lock();
    try {
      boolean free = writers < config.maxWriters() && turns.isEmpty() && !queues.containsKey(key);
      if (closed || !free) {
        return false;
      }
      writers++;
      queues.put(key, queue);
      unanswered.add(batch);
    } finally {
      lock.unlock();
    }
    serve(key, batch);
    passOn(queue);
    return true;
  }

  /** Hands requests that arrived meanwhile to a writer; the caller has its answer and leaves. */
  private void passOn(KeyQueue<K, Q, A> queue) {
    lock.lock();
    try {
      leave(queue);
      if (turns.isEmpty()) {
        writers--;
        quiet.signalAll();
        return;
      }
    } finally {
      lock.unlock();
    }
    startWriter();
  }

  /** A writer's loop: serves queues in turn until none has a request. */
  private void write() {
    KeyQueue<K, Q, A> queue = null;
    int served = 0;
    while (true) {
      Batch<Q, A> batch;
      lock.lock();
      try {
        if (queue != null) {
          leave(queue);
          gathering.afterBatchOf(served, this::mayGather);
        }
        queue = turns.poll();
        if (queue == null) {
          writers--;
          quiet.signalAll();
          return;
        }
        batch = queue.take(config.maxBatch());
        served = batch.taken();
        waiting -= served;
        unanswered.add(batch);
      } finally {
        lock.unlock();
      }
      // Clear an interrupt that a companion left behind: it is not meant for the next batch.
      boolean unused = halted || Thread.interrupted();
      serve(queue.key(), batch);
    }
  }

  /** Under the lock. True if no other queue needs this writer and its key can use more requests. */
  private boolean mayGather() {
    return !closed && turns.size() == 1 && turns.element().size() < Gathering.ENOUGH;
  }

  /** Under the lock. Queues the served queue behind the others, or removes it when empty. */
  private void leave(KeyQueue<K, Q, A> served) {
    if (served.size() == 0) {
      queues.remove(served.key());
    } else {
      turns.add(served);
    }
  }

  private void serve(K key, Batch<Q, A> batch) {
    try {
      long startedNanos = System.nanoTime();
      List<Answer> answers = decide(key, batch.pending());
      if (!answers.isEmpty()) {
        Duration took = Duration.ofNanos(System.nanoTime() - startedNanos);
        rate.served(answers.size(), took.toNanos());
        Listening.tell(() -> config.listener().onBatch(answers.size(), took));
      }
      batch.decided(answers);
      delivery.deliver(answers, () -> answered(batch));
    } catch (Throwable unforeseen) {
      // The writer must survive any failure: its queue and its callers depend on it.
      OutcomeUnknown unknown =
          new OutcomeUnknown(config.name() + ": the writer failed; look the effect up", unforeseen);
      delivery.deliver(batch.settled(unknown), () -> answered(batch));
    }
  }

  private List<Answer> decide(K key, List<Pending<Q, A>> pending) {
    inBatch.set(true);
    try {
      return new Halving<>(runner, config, () -> halted).decide(key, pending);
    } finally {
      inBatch.remove();
    }
  }

  private void answered(Batch<Q, A> batch) {
    lock.lock();
    try {
      unanswered.remove(batch);
      quiet.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Under the lock. */
  private void awaitQuiet() {
    long leftNanos = config.drainTimeout().toNanos();
    try {
      while (leftNanos > 0 && (waiting > 0 || writers > 0 || !unanswered.isEmpty())) {
        leftNanos = quiet.awaitNanos(leftNanos);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
