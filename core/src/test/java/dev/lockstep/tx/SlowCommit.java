package dev.lockstep.tx;

import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * A table whose rows make COMMIT wait: a deferred trigger takes an advisory lock, which the test
 * holds. The transaction is then inside its COMMIT for as long as the test wants.
 */
public final class SlowCommit implements AutoCloseable {
  private static final String TABLE =
      "DROP TABLE IF EXISTS effect; CREATE TABLE effect (reference text)";

  private static final String TRIGGER =
      """
      CREATE OR REPLACE FUNCTION wait_at_commit() RETURNS trigger LANGUAGE plpgsql %s AS $$
      BEGIN
        PERFORM pg_advisory_xact_lock_shared(42);
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER wait_at_commit AFTER INSERT ON %s
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_at_commit();
      """;

  private final Connection holder;
  private final Runnable whenClosed;

  private SlowCommit(Connection holder, Runnable whenClosed) {
    this.holder = holder;
    this.whenClosed = whenClosed;
  }

  /** Creates table {@code effect(reference)} and lets nobody commit a row of it. */
  public static SlowCommit on(TestDatabase database) throws SQLException {
    database.execute(TABLE);
    database.execute(TRIGGER.formatted("", "effect"));
    SlowCommit commits = new SlowCommit(database.connection(), () -> {});
    commits.hold();
    return commits;
  }

  /**
   * Lets nobody commit a new row of a table that is there, however long the transaction is willing
   * to wait for a lock, until closed.
   */
  public static SlowCommit of(TestDatabase database, String table) throws SQLException {
    SlowCommit commits = preparedFor(database, table);
    commits.hold();
    return commits;
  }

  /** As {@link #of}, but commits go through until {@link #hold}. */
  public static SlowCommit preparedFor(TestDatabase database, String table) throws SQLException {
    database.execute(TRIGGER.formatted("SET lock_timeout = 0", table));
    return new SlowCommit(
        database.connection(), () -> database.execute("DROP TRIGGER wait_at_commit ON " + table));
  }

  /** Lets no commit through. */
  public void hold() throws SQLException {
    holder.setAutoCommit(false);
    Sql.execute(holder, "SELECT pg_advisory_xact_lock(42)");
  }

  /** Lets commits through. */
  public void release() throws SQLException {
    holder.rollback();
  }

  @Override
  public void close() {
    try {
      holder.close();
    } catch (SQLException e) {
      // The server was crashed meanwhile; its locks went with it.
    }
    whenClosed.run();
  }
}
