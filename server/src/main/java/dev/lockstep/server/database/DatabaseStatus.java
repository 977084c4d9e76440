package dev.lockstep.server.database;

/**
 * The database's state.
 *
 * @param serverVersion in the server's own form, for example {@code 18.6}
 * @param schemaVersion the migration of core's schema that was applied last
 * @param migrationsApplied how many are applied, in both schemas
 * @param migrationsKnown how many this build ships
 */
public record DatabaseStatus(
    String serverVersion, String schemaVersion, int migrationsApplied, int migrationsKnown) {

  /** A database migrated by a newer build has more, and is fine. */
  public boolean migrated() {
    return migrationsApplied >= migrationsKnown;
  }
}
