package dev.lockstep.prove.history;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/** Collects the calls of a round. Thread-safe. */
public final class Recorder {
  private final Queue<Op> ops = new ConcurrentLinkedQueue<>();
  private final AtomicLong ids = new AtomicLong();
  private final AtomicLong count = new AtomicLong();
  private final long wallOffsetNanos = System.currentTimeMillis() * 1_000_000 - System.nanoTime();

  public long nextId() {
    return ids.incrementAndGet();
  }

  public void add(Op op) {
    ops.add(op);
    count.incrementAndGet();
  }

  /** Something that a node reported, at one instant. */
  public void note(int node, String kind, Fields result) {
    long now = System.nanoTime();
    add(new Op(nextId(), -1, node, kind, Fields.NONE, now, now, Status.OK, result));
  }

  public long count() {
    return count.get();
  }

  public History history() {
    return new History(List.copyOf(ops), wallOffsetNanos);
  }
}
