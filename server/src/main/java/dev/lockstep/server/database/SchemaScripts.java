package dev.lockstep.server.database;

import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.callback.Callback;
import org.flywaydb.core.api.callback.Context;
import org.flywaydb.core.api.callback.Event;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a schema's scripts beside nodes of the former release, which work on. While a script waits
 * for a table, everybody else queues behind it. So it waits less long than they do, lets them pass,
 * and tries again.
 */
final class SchemaScripts {
  private static final Logger log = LoggerFactory.getLogger(SchemaScripts.class);
  private static final Duration PATIENCE = Duration.ofHours(1);
  private static final Duration PAUSE = Duration.ofSeconds(1);

  // Longer than deadlock_timeout (1 s), after which PostgreSQL cancels an autovacuum in the way.
  private static final String BRIEFLY = "SET LOCAL lock_timeout = '2s'";

  private static final String LOCKED = "55P03";

  private final Flyway flyway;

  SchemaScripts(DataSource pool, String schema, String... locations) {
    this.flyway =
        Flyway.configure()
            .dataSource(pool)
            .defaultSchema(schema)
            .locations(locations)
            // Each block numbers its own range, so a migration may be added below another block's.
            .outOfOrder(true)
            .callbacks(new BriefLocks())
            .load();
  }

  /** In the script's transaction, and gone with it. */
  private static final class BriefLocks implements Callback {
    @Override
    public boolean supports(Event event, Context context) {
      return event == Event.BEFORE_EACH_MIGRATE;
    }

    @Override
    public boolean canHandleInTransaction(Event event, Context context) {
      return true;
    }

    @Override
    public void handle(Event event, Context context) {
      try (Statement statement = context.getConnection().createStatement()) {
        statement.execute(BRIEFLY);
      } catch (SQLException e) {
        throw new FlywayException(e);
      }
    }

    @Override
    public String getCallbackName() {
      return "brief locks";
    }
  }

  /** Runs what is missing; returns how many scripts the last attempt ran. */
  int run() {
    long beganNanos = System.nanoTime();
    while (true) {
      try {
        return flyway.migrate().migrationsExecuted;
      } catch (FlywayException e) {
        SQLException cause = DatabaseRefusal.sqlCause(e);
        if (cause == null
            || !LOCKED.equals(cause.getSQLState())
            || System.nanoTime() - beganNanos > PATIENCE.toNanos()
            || Thread.currentThread().isInterrupted()) {
          throw e;
        }
        log.info("A migration waits for a table that a transaction has locked; it is tried again");
        LockSupport.parkNanos(PAUSE.toNanos());
      }
    }
  }

  /** How many scripts this build knows. */
  int known() {
    return Math.toIntExact(
        Arrays.stream(flyway.info().all()).filter(MigrationInfo::isVersioned).count());
  }
}
