package dev.lockstep.server;

import dev.lockstep.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;

/**
 * Moves the clock of a database, for connections that are opened after it was set up: {@code now()}
 * is found here before it is found in PostgreSQL. Leases stay on the real clock, so that a leap
 * makes no node look dead.
 */
public final class MovableClock {
  private final TestDatabase database;
  private volatile Duration shift = Duration.ZERO;

  public MovableClock(TestDatabase database) {
    this.database = database;
    database.execute(
        """
        CREATE SCHEMA clock;
        CREATE TABLE clock.shift (amount interval NOT NULL);
        INSERT INTO clock.shift VALUES ('0');
        CREATE FUNCTION clock.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$
          SELECT CASE WHEN pg_catalog.current_query() LIKE '%shard_member%' THEN pg_catalog.now()
                 ELSE pg_catalog.now() + (SELECT amount FROM clock.shift) END $$;
        """
            + "ALTER DATABASE "
            + database.name()
            + " SET search_path = clock, pg_catalog, public");
  }

  public Instant now() {
    return Instant.now().plus(shift);
  }

  /** From here on it is this late, and workers that sleep until later are woken. */
  public void moveTo(Instant then) {
    shift = Duration.between(Instant.now(), then);
    database.execute(
        "UPDATE clock.shift SET amount = '%d milliseconds'; NOTIFY lockstep_job"
            .formatted(shift.toMillis()));
  }
}
