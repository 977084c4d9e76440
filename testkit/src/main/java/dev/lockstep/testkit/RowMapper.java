package dev.lockstep.testkit;

import java.sql.ResultSet;
import java.sql.SQLException;

/** Maps the current row; the caller moves the cursor. */
@FunctionalInterface
public interface RowMapper<T> {
  T map(ResultSet row) throws SQLException;
}
