package dev.lockstep.server.database;

/**
 * The database as it is now.
 *
 * @param serverVersion as the server writes it, for example {@code 18.6}
 * @param schemaVersion the newest migration applied
 * @param migrationsApplied how many are
 * @param migrationsKnown how many this build ships
 */
public record DatabaseStatus(
    String serverVersion, String schemaVersion, int migrationsApplied, int migrationsKnown) {

  /** A database migrated by a newer build has more than we know, and is fine. */
  public boolean migrated() {
    return migrationsApplied >= migrationsKnown;
  }
}
