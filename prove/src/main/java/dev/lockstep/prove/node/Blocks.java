package dev.lockstep.prove.node;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.hold.Holds;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.once.Once;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.prove.history.Fields;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Everything that a node runs, wired as an application wires it. */
final class Blocks implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Blocks.class);
  // Rarely: correctness does not need the sweepers, and they would hide a command that relies on
  // them.
  private static final Duration SWEEP_INTERVAL = Duration.ofSeconds(3);
  private static final long CONNECTION_TIMEOUT_MS = 4_000;
  private static final int LOGIN_TIMEOUT_SECONDS = 4;

  private final HikariDataSource pool;
  private final Transactor transactor;
  private final Map<String, Verb> verbs = new HashMap<>();
  private final List<AutoCloseable> parts = new ArrayList<>();

  Blocks(NodeSettings settings, Pipe pipe) {
    this.pool = pool(settings);
    this.transactor = new Transactor(pool);
    Holds holds = new Holds(transactor);
    Ledger ledger = new Ledger(transactor);
    Outbox outbox = new Outbox(transactor);
    Once once = new Once(transactor);
    JobVerbs jobs = new JobVerbs(transactor, settings, pipe);
    OutboxVerbs events = new OutboxVerbs(transactor, outbox, settings, pipe);
    verbs.putAll(new HoldVerbs(transactor, holds).verbs());
    verbs.putAll(new LedgerVerbs(transactor, ledger).verbs());
    verbs.putAll(new OnceVerbs(transactor, once).verbs());
    verbs.putAll(new ListVerbs(transactor).verbs());
    verbs.putAll(jobs.verbs());
    verbs.putAll(events.verbs());
    verbs.putAll(new SaleVerbs(transactor, holds, ledger, outbox, jobs.jobs()).verbs());
    verbs.put("hog", this::hog);
    // Closed in this order: first what works without being called.
    parts.add(jobs);
    parts.add(events);
    parts.add(holds.startSweeper(SWEEP_INTERVAL));
    parts.add(ledger.startSweeper(SWEEP_INTERVAL));
    parts.add(holds);
    parts.add(ledger);
    parts.add(pool);
  }

  private static HikariDataSource pool(NodeSettings settings) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setServerNames(new String[] {"127.0.0.1"});
    source.setPortNumbers(new int[] {settings.port()});
    source.setDatabaseName(settings.database());
    source.setUser(settings.user());
    source.setPassword(settings.password());
    source.setApplicationName(settings.name());
    source.setSslmode("disable");
    source.setGssEncMode("disable");
    source.setLoginTimeout(LOGIN_TIMEOUT_SECONDS);
    HikariConfig config = new HikariConfig();
    config.setDataSource(source);
    config.setPoolName(settings.name());
    config.setMaximumPoolSize(NodeSettings.POOL_SIZE);
    config.setConnectionTimeout(CONNECTION_TIMEOUT_MS);
    config.setInitializationFailTimeout(-1);
    return new HikariDataSource(config);
  }

  Map<String, Verb> verbs() {
    return verbs;
  }

  /** Takes every connection of the pool for a while. */
  private Answer hog(Fields fields) throws InterruptedException {
    List<Connection> taken = new ArrayList<>();
    try {
      for (int i = 0; i < NodeSettings.POOL_SIZE; i++) {
        taken.add(pool.getConnection());
      }
      TimeUnit.MILLISECONDS.sleep(fields.number("ms"));
    } catch (SQLException e) {
      // The database is away as well; the pool is as good as exhausted.
      TimeUnit.MILLISECONDS.sleep(fields.number("ms"));
    } finally {
      taken.forEach(pool::evictConnection);
    }
    return Answer.ok("taken", taken.size());
  }

  @Override
  public void close() {
    for (AutoCloseable part : parts) {
      try {
        part.close();
      } catch (Exception e) {
        log.warn("Could not close a part of the node", e);
      }
    }
  }
}
