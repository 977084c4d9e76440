package dev.lockstep.lab;

import dev.lockstep.tx.Isolation;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Plays the catalogue's scenarios on a real PostgreSQL, in its own database and under its own role.
 * The first run creates both; {@link #close} drops them. It never runs a caller's SQL.
 *
 * <p>Scripts commit and roll back themselves, and touch nothing outside the lab's database.
 * Thread-safe. One run at a time, so that runs do not disturb each other (VACUUM, for example,
 * considers all transactions of a database). Each method blocks, a run for at most half a minute;
 * callers with many threads must bound how many wait.
 */
public final class Lab implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Lab.class);

  /** The most sessions of a script. */
  private static final int MAX_SESSIONS = 3;

  private final LabConfig config;
  private @Nullable Stage stage;

  /** Opens nothing before the first run. */
  public Lab(LabConfig config) {
    this.config = config;
  }

  /** The catalogue, in reading order. */
  public static List<Scenario> scenarios() {
    return Catalogue.ALL;
  }

  public static Optional<Scenario> scenario(String id) {
    return Catalogue.ALL.stream().filter(scenario -> scenario.id().equals(id)).findFirst();
  }

  /**
   * Plays a scenario.
   *
   * @throws LabUnavailable if there is no database to play on, or it does not answer in time
   */
  public synchronized Timeline run(Scenario scenario, Isolation isolation, Variant variant) {
    Stage current = open();
    boolean intact = false;
    try {
      Timeline timeline = current.play(scenario, isolation, variant);
      intact = true;
      return timeline;
    } catch (SQLException e) {
      throw new LabUnavailable(
          "the lab lost its database; run it again: " + LabSession.failed(e).message(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LabUnavailable("the run was interrupted", e);
    } finally {
      if (!intact) {
        close();
      }
    }
  }

  /**
   * Plays every scenario at every level.
   *
   * @param progress called with the scenario's id before each run
   */
  public Matrix matrix(Consumer<String> progress) {
    List<Matrix.Row> rows = new ArrayList<>();
    String version = "";
    for (Variant variant : Variant.values()) {
      for (Scenario scenario : Catalogue.ALL) {
        Map<Isolation, Verdict> verdicts = new EnumMap<>(Isolation.class);
        for (Isolation isolation : Isolation.values()) {
          progress.accept(scenario.id());
          Timeline timeline = run(scenario, isolation, variant);
          verdicts.put(isolation, timeline.verdict());
          version = timeline.serverVersion();
        }
        rows.add(new Matrix.Row(scenario, variant, verdicts));
      }
    }
    return new Matrix(version, rows);
  }

  /** Drops role and database. A later run creates them again. */
  @Override
  public synchronized void close() {
    if (stage != null) {
      stage.close();
      stage = null;
    }
  }

  private Stage open() {
    if (stage == null) {
      LabDatabase.Opened opened = LabDatabase.create(config);
      try {
        stage = new Stage(opened);
      } catch (SQLException e) {
        opened.database().close();
        throw new LabUnavailable("the lab cannot connect: " + LabSession.failed(e).message(), e);
      }
    }
    return stage;
  }

  /** The database and all connections to it. */
  private static final class Stage implements AutoCloseable {
    private final LabDatabase database;
    private final Observer observer;
    private final String serverVersion;
    private final List<LabSession> sessions = new ArrayList<>();

    Stage(LabDatabase.Opened opened) throws SQLException {
      database = opened.database();
      observer = new Observer(opened.keeper());
      serverVersion = observer.serverVersion();
      for (int i = 1; i <= MAX_SESSIONS; i++) {
        String name = "session-" + i;
        sessions.add(new LabSession(database.connect("lockstep-lab " + name), name));
      }
    }

    Timeline play(Scenario scenario, Isolation isolation, Variant variant)
        throws SQLException, InterruptedException {
      Script script = scenario.script(variant);
      observer.prepare(script.setup());
      Instant startedAt = Instant.now();
      Player player = new Player(observer, sessions, script, isolation);
      List<PlayedStep> steps = player.play(script.steps());
      long tookUs = player.elapsedUs();
      Outcome.Rows finalState = observer.query(script.finalQuery());
      Observations seen = player.seen();
      seen.seeFinalState(finalState);
      Finding finding = script.judge(seen);
      for (LabSession session : sessions) {
        session.reset();
      }
      observer.clear();
      return new Timeline(
          scenario,
          isolation,
          variant,
          serverVersion,
          startedAt,
          tookUs,
          script.setup(),
          script.sessions(),
          steps,
          finalState,
          new Verdict(
              finding.anomaly(), finding.sentence(), seen.refusals(), seen.someoneWaited()));
    }

    @Override
    public void close() {
      sessions.forEach(LabSession::close);
      observer.close();
      try {
        database.close();
      } catch (RuntimeException e) {
        log.warn("Could not drop the lab's database; the next lab removes it: {}", e.toString());
      }
    }
  }
}
