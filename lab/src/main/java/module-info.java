/** Races of PostgreSQL transactions, played step by step and judged by what the sessions saw. */
module dev.lockstep.lab {
  requires transitive dev.lockstep.core;
  requires java.logging;
  requires org.slf4j;
  requires static org.jspecify;

  exports dev.lockstep.lab;
}
