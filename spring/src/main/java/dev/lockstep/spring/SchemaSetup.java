package dev.lockstep.spring;

import dev.lockstep.migration.Migrations;
import javax.sql.DataSource;

/** Sees to Lockstep's tables before any block is made. */
public final class SchemaSetup {
  /** What to do at the start. */
  public enum Mode {
    /** Runs the scripts that are missing. */
    APPLY,
    /** Fails unless every script has run. */
    VERIFY,
    /** Does nothing: others see to it. */
    NONE
  }

  /**
   * Migrates or checks the tables, as the mode says.
   *
   * @throws dev.lockstep.migration.SchemaMismatch if the tables are not those of this release
   */
  public SchemaSetup(DataSource pool, Mode mode) {
    PlainConnections connections = new PlainConnections(pool);
    switch (mode) {
      case APPLY -> {
        int unused = Migrations.apply(connections);
      }
      case VERIFY -> Migrations.verify(connections);
      case NONE -> {}
    }
  }
}
