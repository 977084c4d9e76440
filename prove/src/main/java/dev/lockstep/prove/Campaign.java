package dev.lockstep.prove;

import dev.lockstep.prove.check.Checkers;
import dev.lockstep.prove.check.Shrinker;
import dev.lockstep.prove.check.Violation;
import dev.lockstep.prove.fault.Cluster;
import dev.lockstep.prove.fault.Coverage;
import dev.lockstep.prove.history.History;
import dev.lockstep.prove.history.Op;
import dev.lockstep.prove.history.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A row of rounds on one cluster. Stops at the first round that breaks a promise. Not thread-safe.
 */
public final class Campaign implements AutoCloseable {
  /** Hears how a campaign goes. */
  public interface Listener {
    default void onProgress(int round, long calls) {}

    default void onRound(int round, Result soFar) {}
  }

  /**
   * What is changed behind the library's back.
   *
   * @param statements changes each statement on its way to the database; null: none
   * @param schema run in the new database first; empty: nothing
   */
  public record Tampering(@Nullable UnaryOperator<String> statements, String schema) {
    public static final Tampering NONE = new Tampering(null, "");
  }

  /**
   * What came of a campaign.
   *
   * @param round the last one
   * @param calls all that were recorded, by kind and how they ended
   * @param violations of the last round
   * @param failing the last round's history, if it broke something
   */
  public record Result(
      long seed,
      int rounds,
      int round,
      long operations,
      Map<String, Map<Status, Long>> calls,
      Coverage coverage,
      List<Violation> violations,
      @Nullable History failing) {

    public boolean passed() {
      return violations.isEmpty();
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
  private int databases;

  public Campaign(Path folder, int nodes) throws IOException {
    this.cluster = Cluster.start(folder, nodes, coverage);
  }

  /** Runs on an empty database of its own. */
  public Result run(CampaignConfig config, Listener listener)
      throws InterruptedException, SQLException {
    return run(config, listener, Tampering.NONE);
  }

  /**
   * As {@link #run(CampaignConfig, Listener)}, with changes behind the library's back: to see
   * whether the campaign notices.
   */
  public Result run(CampaignConfig config, Listener listener, Tampering tampering)
      throws InterruptedException, SQLException {
    cluster.rewriting(null);
    cluster.newDatabase("prove_" + ++databases);
    if (!tampering.schema().isEmpty()) {
      cluster.execute(tampering.schema());
    }
    if (tampering.statements() != null) {
      cluster.rewriting(tampering.statements());
      // What is prepared already was not changed.
      cluster.heal();
    }
    Map<String, Map<Status, Long>> calls = new TreeMap<>();
    long operations = 0;
    long end = System.nanoTime() + config.time().toNanos();
    long inRounds = 0;
    int rounds = 0;
    Result result;
    do {
      int round = config.firstRound() + rounds;
      History history =
          new RoundRun(cluster, config, round).run(count -> listener.onProgress(round, count));
      rounds++;
      inRounds += config.roundTime().toNanos();
      operations += history.ops().size();
      count(history, calls);
      List<Violation> violations = Checkers.check(history);
      result =
          new Result(
              config.seed(),
              rounds,
              round,
              operations,
              calls,
              coverage,
              violations,
              violations.isEmpty() ? null : history);
      listener.onRound(round, result);
    } while (result.passed() && System.nanoTime() < end && inRounds < config.time().toNanos());
    return result;
  }

  private static void count(History history, Map<String, Map<Status, Long>> calls) {
    for (Op op : history.ops()) {
      calls
          .computeIfAbsent(op.kind(), kind -> new EnumMap<>(Status.class))
          .merge(op.status(), 1L, Long::sum);
    }
  }

  @Override
  public void close() {
    cluster.close();
  }
}
