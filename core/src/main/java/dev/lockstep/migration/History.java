package dev.lockstep.migration;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/**
 * The scripts that ran in a database, as Flyway's history table has them.
 *
 * @param baseline Flyway was told that the scripts up to this number ran before; 0 if it was not
 */
record History(boolean exists, Map<Integer, OptionalInt> checksums, int baseline, int lastRank) {
  private static final String EXISTS =
      "SELECT to_regclass('lockstep.flyway_schema_history') IS NOT NULL";

  private static final String READ =
      """
      SELECT installed_rank, version, type, checksum, success, script
      FROM lockstep.flyway_schema_history
      ORDER BY installed_rank""";

  private static final String CREATE =
      """
      CREATE TABLE lockstep.flyway_schema_history (
        installed_rank integer NOT NULL CONSTRAINT flyway_schema_history_pk PRIMARY KEY,
        version varchar(50),
        description varchar(200) NOT NULL,
        type varchar(20) NOT NULL,
        script varchar(1000) NOT NULL,
        checksum integer,
        installed_by varchar(100) NOT NULL,
        installed_on timestamp NOT NULL DEFAULT now(),
        execution_time integer NOT NULL,
        success boolean NOT NULL);
      CREATE INDEX flyway_schema_history_s_idx ON lockstep.flyway_schema_history (success)""";

  private static final String ADD =
      """
      INSERT INTO lockstep.flyway_schema_history
        (installed_rank, version, description, type, script, checksum, installed_by,
         execution_time, success)
      VALUES (?, ?, ?, 'SQL', ?, ?, current_user, ?, true)""";

  // A role that may not create schemas may have been given this one; and Flyway may be creating it
  // now.
  private static final String CREATE_SCHEMA =
      """
      DO $$ BEGIN
        IF to_regnamespace('lockstep') IS NULL THEN
          CREATE SCHEMA lockstep;
        END IF;
      EXCEPTION WHEN duplicate_schema OR unique_violation THEN
        NULL;
      END $$""";

  /** The versions of Lockstep's scripts. Rows with others, or none, are Flyway's or somebody's. */
  private static final Pattern NUMBER = Pattern.compile("\\d{1,9}");

  /**
   * @throws SchemaMismatch if a script failed halfway, which only Flyway allows
   */
  static History read(Connection connection) throws SQLException {
    Map<Integer, OptionalInt> checksums = new HashMap<>();
    int baseline = 0;
    int lastRank = 0;
    try (Statement statement = connection.createStatement()) {
      if (!existing(statement)) {
        return new History(false, checksums, baseline, lastRank);
      }
      try (ResultSet row = statement.executeQuery(READ)) {
        while (row.next()) {
          lastRank = row.getInt("installed_rank");
          String version = row.getString("version");
          if (version == null || !NUMBER.matcher(version).matches()) {
            continue;
          }
          if (row.getString("type").equals("BASELINE")) {
            baseline = Integer.parseInt(version);
            continue;
          }
          if (!row.getBoolean("success")) {
            throw new SchemaMismatch(
                row.getString("script") + " failed in this database. Repair it with Flyway.");
          }
          int checksum = row.getInt("checksum");
          checksums.put(
              Integer.parseInt(version),
              row.wasNull() ? OptionalInt.empty() : OptionalInt.of(checksum));
        }
      }
    }
    return new History(true, checksums, baseline, lastRank);
  }

  private static boolean existing(Statement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery(EXISTS)) {
      row.next();
      return row.getBoolean(1);
    }
  }

  static void create(Statement statement) throws SQLException {
    statement.execute(CREATE_SCHEMA);
    statement.execute(CREATE);
  }

  static void add(Connection connection, int rank, Script script, long millis) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(ADD)) {
      statement.setInt(1, rank);
      statement.setString(2, script.version());
      statement.setString(3, script.description());
      statement.setString(4, script.file());
      statement.setInt(5, script.checksum());
      statement.setInt(6, (int) Math.min(millis, Integer.MAX_VALUE));
      statement.execute();
    }
  }

  boolean has(Script script) {
    return script.number() <= baseline || checksums.containsKey(script.number());
  }

  /** Whether the database ran a different script with this number. */
  boolean differs(Script script) {
    OptionalInt stored = checksums.getOrDefault(script.number(), OptionalInt.empty());
    return stored.isPresent() && stored.getAsInt() != script.checksum();
  }

  /** The newest script's number; 0 if there is none. */
  int version() {
    return checksums.keySet().stream().mapToInt(Integer::intValue).max().orElse(baseline);
  }
}
