package dev.lockstep.server.database;

/**
 * The database's state.
 *
 * @param serverVersion in the server's own form, for example {@code 18.6}
 * @param schemaVersion the newest migration applied
 * @param migrationsApplied their number
 * @param migrationsKnown how many this build ships
 */
public record DatabaseStatus(
    String serverVersion, String schemaVersion, int migrationsApplied, int migrationsKnown) {

  /** A database migrated by a newer build has more, and is fine. */
  public boolean migrated() {
    return migrationsApplied >= migrationsKnown;
  }
}
