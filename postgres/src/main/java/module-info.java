/** PostgreSQL from Maven artifacts, for development, tests and single machines. */
module dev.lockstep.postgres {
  requires transitive java.sql;
  requires java.management;
  requires jdk.management;
  requires org.apache.commons.compress;
  requires org.slf4j;
  requires org.tukaani.xz;
  requires static org.jspecify;

  exports dev.lockstep.postgres;
}
