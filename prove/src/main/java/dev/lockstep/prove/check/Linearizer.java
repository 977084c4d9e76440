package dev.lockstep.prove.check;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Decides whether calls can be put into one order that a model allows, in which each call takes
 * effect between its start and its end (Wing and Gong's search, remembering what was tried).
 */
final class Linearizer {
  /** What the calls act upon. Calls are numbered. */
  interface Model {
    /** Applies a call; false, and unchanged, if it cannot take effect now with its answer. */
    boolean apply(int call);

    /** Undoes the last applied call. */
    void undo(int call);

    /** Depends on the state alone. */
    long fingerprint();
  }

  /**
   * One call.
   *
   * @param required it took effect for certain; others may have
   */
  record Call(int number, long start, long end, boolean required) {}

  enum Answer {
    YES,
    NO,
    /** The search was given up. */
    PERHAPS
  }

  private static final class Entry {
    final Call call;
    final boolean isStart;
    Entry before = this;
    Entry after = this;
    Entry end = this;

    Entry(Call call, boolean isStart) {
      this.call = call;
      this.isStart = isStart;
    }
  }

  private record Tried(BitSet done, long state) {}

  private final Model model;
  private final long maxSteps;
  private final Entry head = new Entry(new Call(-1, 0, 0, false), true);
  private int requiredLeft;
  private int size;

  private Linearizer(List<Call> calls, Model model, long maxSteps) {
    this.model = model;
    this.maxSteps = maxSteps;
    this.size = calls.size();
    build(calls);
  }

  static Answer decide(List<Call> calls, Model model, long maxSteps) {
    return new Linearizer(calls, model, maxSteps).search();
  }

  private record Event(long at, boolean isStart, Entry entry) {}

  private void build(List<Call> calls) {
    List<Event> events = new ArrayList<>();
    for (Call call : calls) {
      Entry start = new Entry(call, true);
      events.add(new Event(call.start(), true, start));
      if (call.required()) {
        requiredLeft++;
        Entry end = new Entry(call, false);
        start.end = end;
        events.add(new Event(call.end(), false, end));
      }
    }
    // At the same instant starts come first: such calls count as concurrent.
    events.sort(Comparator.comparingLong(Event::at).thenComparing(event -> !event.isStart()));
    Entry last = head;
    for (Event event : events) {
      last.after = event.entry();
      event.entry().before = last;
      last = event.entry();
    }
    last.after = head;
    head.before = last;
  }

  private static void remove(Entry entry) {
    entry.before.after = entry.after;
    entry.after.before = entry.before;
  }

  private static void putBack(Entry entry) {
    entry.before.after = entry;
    entry.after.before = entry;
  }

  private void lift(Entry start) {
    remove(start);
    if (start.end != start) {
      remove(start.end);
    }
  }

  private void unlift(Entry start) {
    if (start.end != start) {
      putBack(start.end);
    }
    putBack(start);
  }

  private Answer search() {
    List<Entry> done = new ArrayList<>();
    BitSet mask = new BitSet(size);
    Set<Tried> tried = new HashSet<>();
    Entry at = head.after;
    long steps = 0;
    while (requiredLeft > 0) {
      if (++steps > maxSteps) {
        return Answer.PERHAPS;
      }
      boolean stuck = at == head || !at.isStart;
      if (!stuck) {
        int number = at.call.number();
        if (model.apply(number)) {
          mask.set(number);
          if (tried.add(new Tried((BitSet) mask.clone(), model.fingerprint()))) {
            done.add(at);
            lift(at);
            requiredLeft -= at.call.required() ? 1 : 0;
            at = head.after;
            continue;
          }
          mask.clear(number);
          model.undo(number);
        }
        at = at.after;
        continue;
      }
      if (done.isEmpty()) {
        return Answer.NO;
      }
      Entry last = done.remove(done.size() - 1);
      mask.clear(last.call.number());
      model.undo(last.call.number());
      unlift(last);
      requiredLeft += last.call.required() ? 1 : 0;
      at = last.after;
    }
    return Answer.YES;
  }
}
