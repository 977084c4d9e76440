package dev.lockstep.server.invariant;

import dev.lockstep.hold.StockCheck;
import dev.lockstep.hold.StockReport;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerReport;
import dev.lockstep.server.duty.DutyState;
import dev.lockstep.server.duty.DutyThread;
import dev.lockstep.tx.Transactor;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The full check: one at a time over all nodes, on a dedicated thread. It publishes its progress
 * every second for every node to show. Thread-safe.
 */
final class FullCheck implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(FullCheck.class);

  private static final Duration LEASE = Duration.ofSeconds(15);
  private static final Duration SAY_EVERY = Duration.ofSeconds(1);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(100);

  /**
   * The pause before the next automatic check: a multiple of the last one's duration, with a
   * minimum.
   */
  private static final int REST_TIMES = 9;

  private static final Duration SHORTEST_REST = Duration.ofMinutes(10);

  private final StockCheck stockCheck;
  private final Ledger ledger;
  private final BiFunction<StockReport, LedgerReport, JsonObject> keep;
  private final DutyState duty;
  private final DutyThread<JsonObject> thread;
  private volatile @Nullable JsonObject soFar;
  private String complained = "";

  // Used by the check's thread only.
  private long saidAt;

  /**
   * @param keep stores and reports the findings
   */
  FullCheck(
      Transactor transactor,
      StockCheck stockCheck,
      Ledger ledger,
      BiFunction<StockReport, LedgerReport, JsonObject> keep) {
    this.stockCheck = stockCheck;
    this.ledger = ledger;
    this.keep = keep;
    this.duty = new DutyState(transactor, "invariants", LEASE);
    this.thread = new DutyThread<>("invariants", this::run);
  }

  /** Checks everything, after the current check, if there is one. */
  CompletableFuture<JsonObject> ask() {
    return thread.ask();
  }

  /** Starts a check that nobody waits for, unless a recent one exists. */
  void beginIfDue(Instant now) {
    JsonObject state = duty.read();
    String finished = state.getString("finishedAt");
    Duration rest = Duration.ofMillis(state.getLong("tookMs", 0L)).multipliedBy(REST_TIMES);
    Duration atLeast = rest.compareTo(SHORTEST_REST) > 0 ? rest : SHORTEST_REST;
    boolean due =
        finished == null
            ? state.getString("saidAt") == null
                || Instant.parse(state.getString("saidAt")).plus(LEASE).isBefore(now)
            : Instant.parse(finished).plus(atLeast).isBefore(now);
    if (due) {
      var unused = thread.ask().whenComplete((report, thrown) -> complain(thrown));
    }
  }

  /** The progress or result of the last check, on any node; empty if there was none. */
  JsonObject read() {
    JsonObject state = duty.read();
    state.remove("saidAt");
    state.remove("tookMs");
    return state;
  }

  /** What this node's check has examined and found so far. */
  Optional<JsonObject> soFar() {
    return Optional.ofNullable(soFar);
  }

  /** Logs a failure unless the check before failed in the same way. */
  private void complain(@Nullable Throwable thrown) {
    String kind = thrown == null ? "" : thrown.getClass().getName();
    if (thrown != null && !kind.equals(complained)) {
      log.warn("The full check of invariants failed: {}", thrown.toString());
    }
    complained = kind;
  }

  private JsonObject run() {
    while (duty.take().isEmpty()) {
      LockSupport.parkNanos(LOOK_AGAIN.toNanos());
      if (Thread.currentThread().isInterrupted()) {
        throw new CancellationException("The check was stopped");
      }
    }
    long beganNanos = System.nanoTime();
    try {
      StockReport ofStock = stockCheck.checkAll(found -> say(found, null));
      LedgerReport ofMoney = ledger.checkAll(found -> say(ofStock, found));
      JsonObject report = keep.apply(ofStock, ofMoney);
      duty.save(
          progress(ofStock, ofMoney)
              .put("finishedAt", Instant.now().toString())
              .put("tookMs", (System.nanoTime() - beganNanos) / 1_000_000));
      return report;
    } finally {
      soFar = null;
      duty.leave();
    }
  }

  private void say(StockReport ofStock, @Nullable LedgerReport ofMoney) {
    LedgerReport money =
        ofMoney == null ? new LedgerReport(ofStock.checkedAt(), 0, 0, List.of()) : ofMoney;
    soFar = Invariants.json(ofStock, money);
    if (System.nanoTime() - saidAt > SAY_EVERY.toNanos()) {
      saidAt = System.nanoTime();
      duty.save(progress(ofStock, money));
    }
  }

  private static JsonObject progress(StockReport stock, LedgerReport money) {
    return new JsonObject()
        .put("startedAt", stock.checkedAt().toString())
        .put("finishedAt", null)
        .put("saidAt", Instant.now().toString())
        .put("slices", stock.slices())
        .put("pools", stock.pools())
        .put("changes", stock.changes())
        .put("accounts", money.accounts())
        .put("entries", money.entries())
        .put("violations", stock.violations().size() + money.violations().size());
  }

  @Override
  public void close() {
    thread.close();
  }
}
