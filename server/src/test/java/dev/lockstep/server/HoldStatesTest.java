package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.hold.Actor;
import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Change;
import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldCommand.Extend;
import dev.lockstep.hold.HoldCommand.Release;
import dev.lockstep.hold.HoldCommand.Return;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldState;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.Line;
import dev.lockstep.hold.NewPool;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.server.Exploration.Act;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every command in every state of a hold, against the diagram in docs/concepts.md. */
class HoldStatesTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private static final ScopeId SCOPE = new ScopeId(1);
  private static final PoolId POOL = new PoolId(1);
  private static final Actor ACTOR = Actor.operator("test");
  private static final Duration LONG = Duration.ofHours(1);
  private static final List<Line> ONE = List.of(Line.of(POOL, 1));
  private static final List<Line> TWO = List.of(Line.of(POOL, 2));

  @Test
  void aHoldMovesAsItsDiagramShows() throws Exception {
    StateDiagram diagram = StateDiagram.of("hold", HoldState.values());
    try (Holds holds = new Holds(new Transactor(database.dataSource()))) {
      holds.createScope(SCOPE, OptionalInt.empty());
      holds.createPools(SCOPE, List.of(NewPool.counted(POOL, 1_000)));

      new Exploration<>(diagram, HoldId::next, id -> state(holds, id)).explore(acts(holds));
    }
    diagram.checkPage();
  }

  private static Map<String, Act<HoldId>> acts(Holds holds) {
    Map<String, Act<HoldId>> acts = new LinkedHashMap<>();
    List<Function<HoldId, HoldCommand<?>>> commands =
        List.of(
            id -> Acquire.of(SCOPE, id, new BuyerId("ann"), ONE, LONG),
            id -> new Change(SCOPE, id, TWO, ACTOR),
            id -> new Extend(SCOPE, id, LONG.multipliedBy(2), ACTOR),
            id -> new Confirm(SCOPE, id, ACTOR),
            id -> new Release(SCOPE, id, ACTOR),
            id -> new Return(SCOPE, id, ACTOR));
    for (Function<HoldId, HoldCommand<?>> command : commands) {
      acts.put(
          command.apply(HoldId.next()).getClass().getSimpleName(),
          id -> holds.call(command.apply(id)));
    }
    assertThat(acts.keySet())
        .as("every command there is")
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(HoldCommand.class.getPermittedSubclasses())
                .map(Class::getSimpleName)
                .toList());
    acts.put(
        "time is up",
        id -> {
          database.execute(
              "UPDATE lockstep.hold SET expires_at = now() - interval '1 second' WHERE hold = '%s'"
                  .formatted(id));
          holds.sweep();
        });
    return acts;
  }

  private static String state(Holds holds, HoldId id) {
    return holds.find(SCOPE, id).map(hold -> hold.state().name()).orElse(StateDiagram.NEW);
  }
}
