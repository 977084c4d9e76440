package dev.lockstep.hold;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.OptionalInt;

/** A batch's clock and its scope's buyer limit; a scope that does not exist has none. */
record ScopeRow(Instant now, OptionalInt buyerLimit) {

  /** Reads the first two columns. */
  static ScopeRow read(ResultSet row) throws SQLException {
    int limit = row.getInt(2);
    boolean unlimited = row.wasNull();
    return new ScopeRow(
        row.getObject(1, OffsetDateTime.class).toInstant(),
        unlimited ? OptionalInt.empty() : OptionalInt.of(limit));
  }
}
