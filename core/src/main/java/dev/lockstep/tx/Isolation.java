package dev.lockstep.tx;

/** Isolation levels, weakest first. PostgreSQL treats READ UNCOMMITTED as READ COMMITTED. */
public enum Isolation {
  READ_COMMITTED("READ COMMITTED"),
  REPEATABLE_READ("REPEATABLE READ"),
  SERIALIZABLE("SERIALIZABLE");

  private final String sql;

  Isolation(String sql) {
    this.sql = sql;
  }

  String sql() {
    return sql;
  }
}
