/** What Lockstep's tests use and yours may: a real PostgreSQL, races and faults. */
module dev.lockstep.testkit {
  requires transitive dev.lockstep.postgres;
  requires transitive java.sql;
  requires transitive org.junit.jupiter.api;
  requires com.zaxxer.hikari;
  requires flyway.core;
  requires org.postgresql.jdbc;
  requires org.slf4j;
  requires static org.jspecify;

  exports dev.lockstep.testkit;
}
