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
 * Plays scenarios of its catalogue on a real PostgreSQL, in a database and under a role of its own,
 * which the first run makes and {@link #close} drops. No SQL of a caller is ever run.
 *
 * <p>Scripts commit and roll back by themselves; nothing outside the lab's database is touched.
 * Thread-safe; one run at a time, so that no run disturbs another (VACUUM, for one, looks at all
 * transactions of a database). Each method blocks until it has an answer, a run for at most half a
 * minute; whoever calls from many threads bounds how many wait.
 */
public final class Lab implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Lab.class);

  /** The most that a script has. */
  private static final int MAX_SESSIONS = 3;

  private final LabConfig config;
  private @Nullable Stage stage;

  /** Nothing is opened before the first run. */
  public Lab(LabConfig config) {
    this.config = config;
  }

  /** The catalogue, in the order in which it is read. */
  public static List<Scenario> scenarios() {
    return Catalogue.ALL;
  }

  public static Optional<Scenario> scenario(String id) {
    return Catalogue.ALL.stream().filter(scenario -> scenario.id().equals(id)).findFirst();
  }

  /**
   * Plays a scenario.
   *
   * @throws LabUnavailable when there is no database to play on, or it does not answer in time
   */
  public synchronized Timeline run(Scenario scenario, Isolation isolation, Variant variant) {
    Stage current = open();
    boolean intact = false;
    try {
      Timeline timeline = current.play(scenario, isolation, variant);
      intact = true;
      return timeline;
    } catch (SQLException e) {
      throw new LabUnavailable("the lab lost its database: " + LabSession.failed(e).message(), e);
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
   * Plays everything at every level.
   *
   * @param progress is told of each run before it begins
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

  /** Drops role and database. A later run makes them again. */
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

  /** The database with everybody connected to it. */
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
      Seen seen = player.seen();
      seen.finallySee(finalState);
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
        log.warn("The lab's database was not dropped: {}", e.toString());
      }
    }
  }
}
