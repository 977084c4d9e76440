package dev.lockstep.server;

import com.zaxxer.hikari.HikariPoolMXBean;
import dev.lockstep.combine.CombinerConfig;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.HoldsConfig;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerConfig;
import dev.lockstep.once.Once;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.server.api.Reports;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.api.WorkersConfig;
import dev.lockstep.server.config.BlockSettings;
import dev.lockstep.server.database.Database;
import dev.lockstep.server.database.DatabaseSettings;
import dev.lockstep.server.health.DatabaseHealth;
import dev.lockstep.server.health.PoolUse;
import dev.lockstep.server.lifecycle.Opened;
import dev.lockstep.server.metric.Metrics;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxListener;

/** The library's blocks on one database, with their shared threads and metrics. */
record Blocks(
    DatabaseHealth health,
    Transactor transactor,
    Workers workers,
    Holds holds,
    Ledger ledger,
    Once once,
    Outbox outbox,
    Opened opened)
    implements AutoCloseable {

  static Blocks open(Node node) {
    return Opened.allOrNone(opened -> open(node, opened));
  }

  private static Blocks open(Node node, Opened opened) {
    Database database = node.database();
    Metrics metrics = node.metrics();
    DatabaseSettings settings = node.config().database();
    BlockSettings blocks = node.config().blocks();
    DatabaseHealth health = opened.add(new DatabaseHealth(() -> poolUse(database), metrics));
    TxListener listener = listener(database, metrics, health);
    Transactor transactor =
        new Transactor(database.dataSource(), settings.transactions(), listener);
    Workers workers = opened.add(workers(node, settings.workers(), transactor, listener));
    return new Blocks(
        health,
        transactor,
        workers,
        opened.add(new Holds(transactor, holdsConfig(blocks.holds(), metrics))),
        opened.add(new Ledger(transactor, ledgerConfig(blocks.ledger(), metrics))),
        new Once(transactor, blocks.once()),
        Streaming.outbox(transactor, blocks.outbox()),
        opened);
  }

  private static TxListener listener(Database database, Metrics metrics, DatabaseHealth health) {
    TxListener figures = metrics.transactions();
    TxListener counting = health.transactions();
    return attempt -> {
      figures.onAttempt(attempt);
      counting.onAttempt(attempt);
      database.met(attempt);
    };
  }

  private static Workers workers(
      Node node, WorkersConfig config, Transactor transactor, TxListener listener) {
    Reports reports =
        new Reports(transactor, node.database().reports(), config.reportTimeout(), listener);
    Workers workers = new Workers(node.vertx(), config, reports);
    node.metrics()
        .gauge(
            "lockstep.reports.waiting",
            "Operators' reports that run or wait for their turn.",
            workers::reportsWaiting);
    return workers;
  }

  private static PoolUse poolUse(Database database) {
    HikariPoolMXBean pool = database.poolFigures();
    return new PoolUse(
        pool.getActiveConnections(),
        pool.getIdleConnections(),
        pool.getThreadsAwaitingConnection(),
        database.poolSize());
  }

  private static LedgerConfig ledgerConfig(LedgerConfig config, Metrics metrics) {
    CombinerConfig combiner = config.combiner();
    return config.withCombiner(combiner.withListener(metrics.batches(combiner.name())));
  }

  private static HoldsConfig holdsConfig(HoldsConfig config, Metrics metrics) {
    CombinerConfig combiner = config.combiner();
    return config.withCombiner(combiner.withListener(metrics.batches(combiner.name())));
  }

  @Override
  public void close() {
    opened.close();
  }
}
