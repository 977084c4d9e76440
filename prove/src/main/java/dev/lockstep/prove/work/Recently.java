package dev.lockstep.prove.work;

import dev.lockstep.prove.history.Fields;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The last few calls of a kind, to repeat or continue. Thread-safe. */
final class Recently {
  private final int most;
  private final Deque<Fields> calls = new ArrayDeque<>();

  Recently(int most) {
    this.most = most;
  }

  synchronized void add(Fields call) {
    calls.addLast(call);
    if (calls.size() > most) {
      calls.removeFirst();
    }
  }

  synchronized boolean any() {
    return !calls.isEmpty();
  }

  /** Picks one; requires {@link #any}. */
  Fields pick(Client client) {
    List<Fields> now;
    synchronized (this) {
      now = new ArrayList<>(calls);
    }
    return client.pick(now);
  }
}
