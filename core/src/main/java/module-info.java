/**
 * The blocks: transactions, the combiner, and what is built on them.
 *
 * <p>Exported is what users call. How blocks send statements is not: {@code dev.lockstep.sql} is
 * open to Lockstep's own modules only, and {@code ModuleTest} names the few public methods that
 * mention its types.
 */
// The compiler does not see the module that gets the qualified export, and no class beside the
// migrations.
@SuppressWarnings({"module", "opens"})
module dev.lockstep.core {
  requires transitive java.sql;
  requires org.slf4j;
  requires static org.jspecify;

  exports dev.lockstep.combine;
  exports dev.lockstep.fault;
  exports dev.lockstep.hold;
  exports dev.lockstep.job;
  exports dev.lockstep.ledger;
  exports dev.lockstep.migration;
  exports dev.lockstep.once;
  exports dev.lockstep.outbox;
  exports dev.lockstep.shard;
  exports dev.lockstep.tx;
  exports dev.lockstep.work;
  exports dev.lockstep.sql to
      dev.lockstep.server;

  // The migrations, for Flyway.
  opens db.lockstep;
}
