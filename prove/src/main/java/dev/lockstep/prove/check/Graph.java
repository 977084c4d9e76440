package dev.lockstep.prove.check;

import dev.lockstep.prove.history.Op;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Which transaction depends on which. */
final class Graph {
  private final Map<Op, Set<Op>> edges = new LinkedHashMap<>();

  void edge(Op from, Op to) {
    if (!from.equals(to)) {
      edges.computeIfAbsent(from, op -> new LinkedHashSet<>()).add(to);
      edges.computeIfAbsent(to, op -> new LinkedHashSet<>());
    }
  }

  /** A shortest cycle; empty if there is none. */
  List<Op> cycle() {
    // A node without incoming edges is in no cycle: remove such nodes until none is left.
    Map<Op, Integer> incoming = new HashMap<>();
    edges.values().forEach(all -> all.forEach(to -> incoming.merge(to, 1, Integer::sum)));
    Set<Op> left = new LinkedHashSet<>(edges.keySet());
    Deque<Op> free = new ArrayDeque<>();
    left.stream().filter(op -> !incoming.containsKey(op)).forEach(free::add);
    while (!free.isEmpty()) {
      Op op = free.remove();
      left.remove(op);
      for (Op to : edges.getOrDefault(op, Set.of())) {
        if (incoming.merge(to, -1, Integer::sum) == 0) {
          free.add(to);
        }
      }
    }
    List<Op> shortest = List.of();
    for (Op op : left) {
      List<Op> own = cycleThrough(op, left);
      if (!own.isEmpty() && (shortest.isEmpty() || own.size() < shortest.size())) {
        shortest = own;
      }
      if (shortest.size() == 2) {
        break;
      }
    }
    return shortest;
  }

  private List<Op> cycleThrough(Op start, Set<Op> left) {
    Map<Op, Op> cameFrom = new HashMap<>();
    Deque<Op> queue = new ArrayDeque<>(List.of(start));
    while (!queue.isEmpty()) {
      Op op = queue.poll();
      for (Op to : edges.getOrDefault(op, Set.of())) {
        if (to.equals(start)) {
          List<Op> path = new ArrayList<>();
          for (Op at = op; at != null; at = cameFrom.get(at)) {
            path.add(0, at);
          }
          return List.copyOf(path);
        }
        if (left.contains(to) && !cameFrom.containsKey(to)) {
          cameFrom.put(to, op);
          queue.add(to);
        }
      }
    }
    return List.of();
  }
}
