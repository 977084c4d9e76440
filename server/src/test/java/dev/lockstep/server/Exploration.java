package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Does everything that can be done to something, in every state that it can be brought into, and
 * notes what moved it.
 *
 * @param <S> one specimen; each step is tried on a fresh one
 */
final class Exploration<S> {
  /** Something that is done to a specimen. It may well have no effect. */
  @FunctionalInterface
  interface Act<S> {
    void on(S specimen) throws Exception;
  }

  /** The state a specimen is in, as the code under test tells it. */
  @FunctionalInterface
  interface Look<S> {
    String at(S specimen) throws Exception;
  }

  private final StateDiagram diagram;
  private final Supplier<S> fresh;
  private final Look<S> look;
  private final Map<String, List<Act<S>>> ways = new HashMap<>();

  Exploration(StateDiagram diagram, Supplier<S> fresh, Look<S> look) {
    this.diagram = diagram;
    this.fresh = fresh;
    this.look = look;
  }

  /** From the beginning, by all of these acts, until no new state turns up. */
  void explore(Map<String, Act<S>> acts) throws Exception {
    Deque<String> unexplored = new ArrayDeque<>(List.of(StateDiagram.NEW));
    ways.put(StateDiagram.NEW, List.of());
    while (!unexplored.isEmpty()) {
      String state = unexplored.remove();
      for (Map.Entry<String, Act<S>> act : acts.entrySet()) {
        String after = tried(state, act.getKey(), act.getValue());
        if (!ways.containsKey(after) && !after.equals(StateDiagram.DELETED)) {
          List<Act<S>> way = new ArrayList<>(way(state));
          way.add(act.getValue());
          ways.put(after, way);
          unexplored.add(after);
        }
      }
    }
  }

  /** One more act, in one state that was found. */
  String tried(String state, String name, Act<S> act) throws Exception {
    S specimen = fresh.get();
    for (Act<S> step : way(state)) {
      step.on(specimen);
    }
    assertThat(look.at(specimen)).as("on the way to %s", state).isEqualTo(state);
    act.on(specimen);
    String after = look.at(specimen);
    if (!after.equals(state)) {
      diagram.moved(state, name, after);
    }
    return after;
  }

  private List<Act<S>> way(String state) {
    return ways.getOrDefault(state, List.of());
  }
}
