package dev.lockstep.combine;

import dev.lockstep.fault.PermanentFault;
import dev.lockstep.fault.TransientFault;
import dev.lockstep.sql.CallResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A database that keeps a record: which batches it was given, which of them took effect, and how
 * many writers were at it at once. A test may hold it at a gate, so that what is submitted
 * meanwhile waits.
 */
final class RecordingRunner implements BatchRunner<String, Integer, String> {

  /** The request is bad, and will be next time. */
  static final class Poisoned extends PermanentFault {
    private static final long serialVersionUID = 1L;

    Poisoned() {
      super("poisoned", null);
    }
  }

  /** The database is busy. */
  static final class Busy extends TransientFault {
    private static final long serialVersionUID = 1L;

    Busy() {
      super("busy", null);
    }
  }

  record Ran(String key, List<Integer> requests) {}

  private final Consumer<List<Integer>> check;
  private final List<Ran> attempted = new CopyOnWriteArrayList<>();
  private final List<Ran> committed = new CopyOnWriteArrayList<>();
  private final Map<String, AtomicInteger> writersOfKey = new ConcurrentHashMap<>();
  private final AtomicInteger writers = new AtomicInteger();
  private final AtomicInteger mostWriters = new AtomicInteger();
  private final AtomicInteger mostWritersOfAKey = new AtomicInteger();
  private final CountDownLatch entered = new CountDownLatch(1);
  private final CountDownLatch gate;

  /**
   * @param check throws if the batch is to fail
   */
  private RecordingRunner(CountDownLatch gate, Consumer<List<Integer>> check) {
    this.gate = gate;
    this.check = check;
  }

  static RecordingRunner open() {
    return open(requests -> {});
  }

  static RecordingRunner open(Consumer<List<Integer>> check) {
    return new RecordingRunner(new CountDownLatch(0), check);
  }

  /** Every batch waits until {@link #release}. */
  static RecordingRunner gated(Consumer<List<Integer>> check) {
    return new RecordingRunner(new CountDownLatch(1), check);
  }

  static String answerTo(String key, int request) {
    return key + ":" + request;
  }

  @Override
  public List<CallResult<String>> run(String key, List<Integer> requests) {
    attempted.add(new Ran(key, List.copyOf(requests)));
    AtomicInteger ofKey = writersOfKey.computeIfAbsent(key, k -> new AtomicInteger());
    mostWritersOfAKey.accumulateAndGet(ofKey.incrementAndGet(), Math::max);
    mostWriters.accumulateAndGet(writers.incrementAndGet(), Math::max);
    try {
      entered.countDown();
      await(gate, "release");
      check.accept(requests);
      committed.add(new Ran(key, List.copyOf(requests)));
      return requests.stream()
          .<CallResult<String>>map(request -> new CallResult.Answer<>(answerTo(key, request)))
          .toList();
    } finally {
      writers.decrementAndGet();
      ofKey.decrementAndGet();
    }
  }

  /** Returns when a writer has begun its first batch. */
  void awaitEntered() {
    await(entered, "the first batch");
  }

  void release() {
    gate.countDown();
  }

  /** Every batch it was given, in order, failed ones included. */
  List<Ran> attempted() {
    return attempted;
  }

  /** The batches that took effect, in order. */
  List<Ran> committed() {
    return committed;
  }

  /** What took effect of a key, in order. */
  List<Integer> committedOf(String key) {
    List<Integer> all = new ArrayList<>();
    committed.stream().filter(ran -> ran.key().equals(key)).forEach(r -> all.addAll(r.requests()));
    return all;
  }

  int mostWriters() {
    return mostWriters.get();
  }

  int mostWritersOfAKey() {
    return mostWritersOfAKey.get();
  }

  static void await(CountDownLatch latch, String what) {
    try {
      if (!latch.await(60, TimeUnit.SECONDS)) {
        throw new AssertionError("Waited in vain for " + what);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while waiting for " + what, e);
    }
  }
}
