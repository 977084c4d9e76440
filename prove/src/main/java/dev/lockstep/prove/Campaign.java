package dev.lockstep.prove;

import dev.lockstep.prove.check.Checkers;
import dev.lockstep.prove.check.Shrinker;
import dev.lockstep.prove.check.Violation;
import dev.lockstep.prove.fault.Cluster;
import dev.lockstep.prove.fault.Coverage;
import dev.lockstep.prove.history.History;
import dev.lockstep.prove.history.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A series of rounds on one cluster. Each round is judged while the next one works; the campaign
 * ends after the first that broke a promise. At most two histories are in memory. Not thread-safe.
 */
public final class Campaign implements AutoCloseable {
  /** The rows of more rounds would make query plans slow, which no promise is about. */
  private static final int ROUNDS_PER_DATABASE = 20;

  private static final int SHOPS = 2;

  /** Hears how a campaign goes. */
  public interface Listener {
    default void onProgress(int round, long calls) {}

    default void onRound(int round, Result soFar) {}
  }

  /**
   * What is changed behind the library's back.
   *
   * @param statements changes each statement on its way to the database; null: none
   * @param schema run in each new database first; empty: nothing
   */
  public record Tampering(@Nullable UnaryOperator<String> statements, String schema) {
    public static final Tampering NONE = new Tampering(null, "");
  }

  /**
   * The result of a campaign.
   *
   * @param round the last one; the one that broke a promise, if one did
   * @param operations calls of clients, runs of jobs and deliveries of events
   * @param reads reads made once everything had stopped
   * @param parts pools, buyers, keys, books and the like that were judged one by one
   * @param undecided parts for which the search for an order was given up
   * @param took from the first call to the last verdict
   * @param calls those recorded, by kind and status
   * @param violations of one round
   * @param failing that round's history, if it broke something
   */
  public record Result(
      long seed,
      int rounds,
      int round,
      long operations,
      long reads,
      long parts,
      long undecided,
      Duration took,
      Map<String, Map<Status, Long>> calls,
      Coverage coverage,
      List<Violation> violations,
      @Nullable History failing) {

    public boolean passed() {
      return violations.isEmpty();
    }

    public long operationsPerSecond() {
      return operations * 1_000 / Math.max(1, took.toMillis());
    }

    /** The shortest history that still breaks the first broken promise. */
    public History shortest() {
      if (failing == null) {
        return new History(List.of(), 0);
      }
      return Shrinker.shrink(failing, violations.get(0));
    }
  }

  private final Cluster cluster;
  private final Coverage coverage = new Coverage();
  private final ExecutorService checks = Executors.newSingleThreadExecutor();
  private int databases;

  /** Starts what the configuration needs: shops only if they are to sell. */
  public Campaign(Path folder, CampaignConfig config) throws IOException {
    int shops = config.workloads().contains("purchases") ? SHOPS : 0;
    this.cluster = Cluster.start(folder, config.nodes(), shops, coverage);
  }

  /** Runs on empty databases of its own. */
  public Result run(CampaignConfig config, Listener listener)
      throws InterruptedException, SQLException {
    return run(config, listener, Tampering.NONE);
  }

  /**
   * As {@link #run(CampaignConfig, Listener)}, with changes behind the library's back, to see
   * whether the campaign notices.
   */
  public Result run(CampaignConfig config, Listener listener, Tampering tampering)
      throws InterruptedException, SQLException {
    begin(tampering);
    Totals totals = new Totals(config.seed(), coverage);
    long end = System.nanoTime() + config.time().toNanos();
    long inRounds = 0;
    int number = config.firstRound();
    do {
      if (totals.rounds() > 0 && totals.rounds() % ROUNDS_PER_DATABASE == 0) {
        begin(tampering);
      }
      int round = number++;
      long before = totals.operations();
      History history =
          new RoundRun(cluster, config, round)
              .run(count -> listener.onProgress(round, before + count));
      inRounds += config.roundTime().toNanos();
      totals.awaitVerdict();
      if (totals.passed()) {
        totals.add(round, history, checks.submit(() -> Checkers.check(history)));
        totals.awaitVerdictForAWhile();
      }
      listener.onRound(round, totals.result());
    } while (totals.passed() && System.nanoTime() < end && inRounds < config.time().toNanos());
    totals.awaitVerdict();
    return totals.result();
  }

  private void begin(Tampering tampering) throws InterruptedException, SQLException {
    cluster.rewriting(null);
    cluster.newDatabase("prove_" + ++databases);
    if (!tampering.schema().isEmpty()) {
      cluster.execute(tampering.schema());
    }
    if (tampering.statements() != null) {
      cluster.rewriting(tampering.statements());
      // Statements prepared earlier are unchanged; this cuts their connections.
      cluster.heal();
    }
  }

  @Override
  public void close() {
    checks.shutdownNow();
    cluster.close();
  }
}
