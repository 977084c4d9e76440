package dev.lockstep.testkit;

import java.sql.ResultSet;
import java.sql.SQLException;

/** Reads one row; the cursor is moved by the caller. */
@FunctionalInterface
public interface RowMapper<T> {
  T map(ResultSet row) throws SQLException;
}
