package dev.lockstep.prove.check;

import dev.lockstep.prove.history.History;
import dev.lockstep.prove.history.Op;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Looks for Adya's phenomena in transactions that append to lists and read them. A list shows the
 * order of its writers, so dependencies are known, not guessed: G0 is a cycle of writes, G1a a read
 * of what was rolled back, G1b of what was not final, G1c a cycle of writes and reads, G2 a cycle
 * with a read of what was overwritten.
 */
final class IsolationChecker implements Checker {
  @Override
  public String name() {
    return "isolation";
  }

  @Override
  public Map<String, History> parts(History history) {
    History lists = history.where(op -> op.is("tx.lists") || op.is("final.lists"));
    return lists.ops().isEmpty() ? Map.of() : Map.of("lists", lists);
  }

  private record Read(String key, List<String> items) {}

  private record Append(String key, String item) {}

  static List<String> items(String text) {
    return text.isEmpty() ? List.of() : List.of(text.split("\\.", -1));
  }

  private static List<Read> reads(Op op) {
    List<Read> reads = new ArrayList<>();
    for (String each : op.ok() ? op.result().parts("reads", ",") : List.<String>of()) {
      String[] parts = each.split(":", -1);
      reads.add(new Read(parts[0], items(parts[1])));
    }
    return reads;
  }

  private static List<Append> appends(Op op) {
    List<Append> appends = new ArrayList<>();
    for (String step : op.args().parts("steps", ",")) {
      String[] parts = step.split("\\.", -1);
      if (parts[0].equals("a")) {
        appends.add(new Append(parts[1], parts[2]));
      }
    }
    return appends;
  }

  /** Leaving out a transaction removes dependencies and adds none. */
  @Override
  public boolean droppable(String rule, Op op) {
    return op.failed() || rule.startsWith("G");
  }

  @Override
  public List<Violation> check(String part, History history) {
    List<Violation> found = new ArrayList<>();
    Map<String, List<String>> order = new TreeMap<>();
    for (Op op : history.ops()) {
      for (Read read : reads(op)) {
        List<String> longest = order.getOrDefault(read.key(), List.of());
        boolean isShorter = read.items().size() < longest.size();
        List<String> shorter = isShorter ? read.items() : longest;
        List<String> longer = isShorter ? longest : read.items();
        if (!longer.subList(0, shorter.size()).equals(shorter)) {
          found.add(of("reads agree on one order", read.key(), longest + " and " + op, op));
          return found;
        }
        order.put(read.key(), longer);
      }
    }
    Map<String, Op> writers = new HashMap<>();
    for (Op op : history.ops()) {
      appends(op).forEach(append -> writers.put(append.item(), op));
    }
    dirty(history, order, writers, found);
    if (found.isEmpty()) {
      cycles(history, order, writers, found);
    }
    return found;
  }

  private void dirty(
      History history,
      Map<String, List<String>> order,
      Map<String, Op> writers,
      List<Violation> found) {
    order.forEach(
        (key, items) -> {
          if (new HashSet<>(items).size() < items.size()) {
            found.add(new Violation(name(), "an append happens once", key, "" + items, List.of()));
          }
          for (String item : items) {
            Op writer = writers.get(item);
            if (writer != null && writer.failed()) {
              found.add(of("G1a: an aborted append is not read", key, item, writer));
            }
          }
        });
    boolean wasRead = history.of("final.lists").findAny().isPresent();
    Set<String> lastRead = new HashSet<>();
    history.of("final.lists").forEach(op -> reads(op).forEach(read -> lastRead.add(read.key())));
    for (Op op : history.ops()) {
      for (Append append : op.ok() && wasRead ? appends(op) : List.<Append>of()) {
        if (lastRead.contains(append.key())
            && !order.getOrDefault(append.key(), List.of()).contains(append.item())) {
          found.add(of("no append is lost", append.key(), append.item(), op));
        }
      }
      for (Read read : reads(op)) {
        intermediate(op, read, writers, found);
      }
    }
  }

  /** A read that ends within another transaction's appends to the key. */
  private void intermediate(Op op, Read read, Map<String, Op> writers, List<Violation> found) {
    if (read.items().isEmpty()) {
      return;
    }
    String last = read.items().get(read.items().size() - 1);
    Op writer = writers.get(last);
    if (writer == null || writer.equals(op)) {
      return;
    }
    List<String> own =
        appends(writer).stream()
            .filter(append -> append.key().equals(read.key()))
            .map(Append::item)
            .toList();
    if (!own.get(own.size() - 1).equals(last)) {
      found.add(of("G1b: an intermediate append is not read", read.key(), "" + op, writer));
    }
  }

  private void cycles(
      History history,
      Map<String, List<String>> order,
      Map<String, Op> writers,
      List<Violation> found) {
    Graph writes = new Graph();
    Graph reads = new Graph();
    Graph all = new Graph();
    order.forEach(
        (key, items) -> {
          for (int i = 1; i < items.size(); i++) {
            Op from = writers.get(items.get(i - 1));
            Op to = writers.get(items.get(i));
            if (from != null && to != null) {
              writes.edge(from, to);
              reads.edge(from, to);
              all.edge(from, to);
            }
          }
        });
    for (Op op : history.of("tx.lists").toList()) {
      for (Read read : reads(op)) {
        List<String> items = new ArrayList<>(read.items());
        while (!items.isEmpty() && op.equals(writers.get(items.get(items.size() - 1)))) {
          items.remove(items.size() - 1);
        }
        if (!items.isEmpty()) {
          Op writer = writers.get(items.get(items.size() - 1));
          if (writer != null) {
            reads.edge(writer, op);
            all.edge(writer, op);
          }
        }
        List<String> whole = order.getOrDefault(read.key(), List.of());
        if (items.size() < whole.size()) {
          Op next = writers.get(whole.get(items.size()));
          if (next != null) {
            all.edge(op, next);
          }
        }
      }
    }
    cycle("G0: no cycle of writes", writes, found);
    cycle("G1c: no cycle of writes and reads", reads, found);
    cycle("G2: no cycle with an overwritten read", all, found);
  }

  private void cycle(String rule, Graph graph, List<Violation> found) {
    List<Op> cycle = found.isEmpty() ? graph.cycle() : List.of();
    if (!cycle.isEmpty()) {
      found.add(new Violation(name(), rule, "lists", cycle.size() + " transactions", cycle));
    }
  }

  private Violation of(String rule, String key, String why, Op witness) {
    return new Violation(name(), rule, "list " + key, why, List.of(witness));
  }
}
