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
      """
      DROP TABLE IF EXISTS effect;
      CREATE TABLE effect (reference text);
      CREATE OR REPLACE FUNCTION wait_at_commit() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_advisory_xact_lock_shared(42);
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER wait_at_commit AFTER INSERT ON effect
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_at_commit();
      """;

  private final Connection holder;

  private SlowCommit(Connection holder) {
    this.holder = holder;
  }

  /** Creates table {@code effect(reference)} and lets nobody commit a row of it. */
  public static SlowCommit on(TestDatabase database) throws SQLException {
    database.execute(TABLE);
    Connection holder = database.connection();
    holder.setAutoCommit(false);
    Sql.execute(holder, "SELECT pg_advisory_xact_lock(42)");
    return new SlowCommit(holder);
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
  }
}
