package dev.lockstep.hold;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.combine.Door;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.testkit.ChildJvm;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A server of its own: when told to go, its callers buy one unit after the other until nothing is
 * left, and it prints every grant once it knows of it.
 */
final class SellingProcess {
  private static final int CALLERS = 8;
  private static final String READY = "ready";
  private static final String GO = "go";
  private static final String GRANTED = "granted ";
  private static final String DONE = "done";

  private SellingProcess() {}

  static ChildJvm start(TestDatabase database, ScopeId scope) throws InterruptedException {
    ChildJvm child =
        ChildJvm.start(
            SellingProcess.class,
            database.url(),
            database.user(),
            database.password(),
            Long.toString(scope.value()));
    child.awaitLine(READY);
    return child;
  }

  static void go(ChildJvm child) {
    child.send(GO);
  }

  static void awaitGrants(ChildJvm child, int count) throws InterruptedException {
    for (int i = 0; i < count; i++) {
      child.awaitLine(line -> line.startsWith(GRANTED));
    }
  }

  static void awaitDone(ChildJvm child) throws InterruptedException {
    child.awaitLine(DONE);
  }

  /** What the process has told the world. A line that was cut short by its death is no promise. */
  static List<HoldId> granted(ChildJvm child) {
    return child.lines().stream()
        .filter(line -> line.startsWith(GRANTED) && line.endsWith("."))
        .map(line -> HoldId.of(line.substring(GRANTED.length(), line.length() - 1)))
        .toList();
  }

  public static void main(String[] args) throws Exception {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(args[0]);
    config.setUsername(args[1]);
    config.setPassword(args[2]);
    config.setMaximumPoolSize(CALLERS);
    ScopeId scope = new ScopeId(Long.parseLong(args[3]));
    try (HikariDataSource pool = new HikariDataSource(config);
        Holds holds = new Holds(new Transactor(pool))) {
      List<PoolId> pools = holds.pools(scope).stream().map(Pool::id).toList();
      System.out.println(READY);
      awaitGo();
      sell(holds, scope, pools);
      System.out.println(DONE);
    }
  }

  private static void awaitGo() throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    String line = in.readLine();
    if (!GO.equals(line)) {
      throw new IllegalStateException("Expected to be told to go, not " + line);
    }
  }

  private static void sell(Holds holds, ScopeId scope, List<PoolId> pools) throws Exception {
    List<Thread> callers = new ArrayList<>();
    for (int i = 0; i < CALLERS; i++) {
      int caller = i;
      Thread thread = new Thread(() -> buyUntilSoldOut(holds, scope, pools, caller), "caller-" + i);
      thread.start();
      callers.add(thread);
    }
    for (Thread caller : callers) {
      caller.join();
    }
  }

  private static void buyUntilSoldOut(Holds holds, ScopeId scope, List<PoolId> pools, int caller) {
    BuyerId buyer = new BuyerId(ProcessHandle.current().pid() + "-" + caller);
    for (int i = 0; i < pools.size(); i++) {
      List<Line> one = List.of(Line.of(pools.get((caller + i) % pools.size()), 1));
      while (Door.await(holds.submit(Acquire.of(scope, HoldId.next(), buyer, one, Sale.HOLD_FOR)))
          instanceof Granted granted) {
        System.out.println(GRANTED + granted.hold().id() + ".");
      }
    }
  }
}
