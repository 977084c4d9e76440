package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Change;
import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldCommand.Extend;
import dev.lockstep.hold.HoldCommand.Release;
import dev.lockstep.hold.HoldCommand.Return;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Callers on two nodes who take, change, extend, confirm, release and let expire. */
final class Load implements AutoCloseable {
  private static final Actor OPERATOR = Actor.operator("load");

  private final TestDatabase database;
  private final List<Holds> nodes;

  Load(TestDatabase database) {
    this.database = database;
    this.nodes =
        List.of(
            new Holds(new Transactor(database.dataSource())),
            new Holds(new Transactor(database.dataSource())));
  }

  /** What one caller does; the same number does the same. */
  int run(int caller, int commands) {
    Random random = new Random(caller);
    List<HoldId> mine = new ArrayList<>();
    ScopeId scope = caller % 2 == 0 ? Shop.OPEN : Shop.LIMITED;
    for (int i = 0; i < commands; i++) {
      Holds node = nodes.get(random.nextInt(nodes.size()));
      if (random.nextInt(10) == 0) {
        expireOne();
        node.sweep();
      } else {
        node.submit(command(random, scope, mine)).toCompletableFuture().join();
      }
    }
    return commands;
  }

  private HoldCommand<?> command(Random random, ScopeId scope, List<HoldId> mine) {
    if (mine.isEmpty() || random.nextInt(10) < 4) {
      mine.add(HoldId.next());
      BuyerId buyer = new BuyerId("buyer-" + random.nextInt(4));
      return Acquire.of(
          scope, mine.get(mine.size() - 1), buyer, lines(random), Duration.ofMinutes(15));
    }
    HoldId hold = mine.get(random.nextInt(mine.size()));
    return switch (random.nextInt(8)) {
      case 0 -> new Confirm(scope, hold, OPERATOR);
      case 4 -> new Return(scope, hold, OPERATOR, random.nextBoolean() ? List.of() : lines(random));
      case 1, 2 -> new Change(scope, hold, lines(random), OPERATOR);
      case 3 -> new Extend(scope, hold, Duration.ofMinutes(30), OPERATOR);
      default -> new Release(scope, hold, OPERATOR);
    };
  }

  /** Once each in both scopes, of a pool that nobody else takes from: chance may leave some out. */
  void tryEverything() {
    Holds node = nodes.get(0);
    for (ScopeId scope : List.of(Shop.OPEN, Shop.LIMITED)) {
      HoldId sold = acquireQuiet(node, scope);
      node.call(new Change(scope, sold, List.of(Line.of(Shop.QUIET, 2)), OPERATOR));
      node.call(new Confirm(scope, sold, OPERATOR));
      node.call(new Return(scope, sold, OPERATOR));
      node.call(new Release(scope, acquireQuiet(node, scope), OPERATOR));
      database.execute(
          "UPDATE lockstep.hold SET expires_at = now() - interval '1 second' WHERE hold = '%s'"
              .formatted(acquireQuiet(node, scope).value()));
    }
    node.sweep();
  }

  private static HoldId acquireQuiet(Holds node, ScopeId scope) {
    HoldId hold = HoldId.next();
    node.call(
        Acquire.of(
            scope,
            hold,
            new BuyerId("somebody"),
            List.of(Line.of(Shop.QUIET, 1)),
            Duration.ofMinutes(15)));
    return hold;
  }

  private static List<Line> lines(Random random) {
    Line counted = Line.of(Shop.COUNTED, 1 + random.nextInt(2));
    Line units = Line.of(Shop.UNITS, 1 + random.nextInt(2));
    return switch (random.nextInt(3)) {
      case 0 -> List.of(counted);
      case 1 -> List.of(units);
      default -> List.of(units, counted);
    };
  }

  /** Time passes for one hold. One row a statement, so that this never waits in a ring. */
  private void expireOne() {
    database.execute(
        """
        UPDATE lockstep.hold SET expires_at = now() - interval '1 second'
        WHERE (scope, hold) = (
          SELECT scope, hold FROM lockstep.hold WHERE state = 0
          ORDER BY created_at DESC LIMIT 1 FOR UPDATE SKIP LOCKED)""");
  }

  /** Acquired, changed, sold, returned, released and expired, in both scopes. */
  void assertEverythingWasTried() {
    assertThat(
            database.query(
                "SELECT DISTINCT scope, cause FROM lockstep.stock_audit WHERE seq > 0",
                row -> row.getInt(1) + ":" + row.getInt(2)))
        .as("scope and cause")
        .containsExactlyInAnyOrder(
            "1:0", "1:1", "1:2", "1:3", "1:4", "1:5", "2:0", "2:1", "2:2", "2:3", "2:4", "2:5");
  }

  @Override
  public void close() {
    nodes.forEach(Holds::close);
  }
}
