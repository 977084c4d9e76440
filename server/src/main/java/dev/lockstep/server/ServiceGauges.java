package dev.lockstep.server;

import com.zaxxer.hikari.HikariPoolMXBean;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.HoldsConfig;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerConfig;
import dev.lockstep.server.api.Trouble;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.server.database.Database;
import dev.lockstep.server.database.DiskSpace;
import dev.lockstep.server.job.JobRunner;
import dev.lockstep.server.metric.Metrics;
import dev.lockstep.server.stream.Streams;
import java.util.Optional;

/** Gauges of the server's parts. */
final class ServiceGauges {
  private ServiceGauges() {}

  static void add(
      Metrics metrics, Database database, Holds holds, Ledger ledger, Campaigns campaigns) {
    HikariPoolMXBean pool = database.poolFigures();
    metrics.gauge(
        "lockstep.database.connections.active",
        "Pooled connections in use.",
        pool::getActiveConnections);
    metrics.gauge(
        "lockstep.database.connections.idle", "Idle pooled connections.", pool::getIdleConnections);
    metrics.gauge(
        "lockstep.database.connections.waiting",
        "Threads waiting for a connection.",
        pool::getThreadsAwaitingConnection);
    for (Trouble trouble : Trouble.values()) {
      metrics.gauge(
          "lockstep.database.trouble",
          "1 while the database cannot serve anybody for this reason, else 0.",
          () -> database.finding().trouble().filter(trouble::equals).isPresent() ? 1 : 0,
          "reason",
          trouble.reason());
    }
    metrics.gauge(
        "lockstep.combiner.waiting",
        "Requests waiting to be decided.",
        holds::waiting,
        "combiner",
        HoldsConfig.DEFAULT.combiner().name());
    metrics.gauge(
        "lockstep.combiner.waiting",
        "Requests waiting to be decided.",
        ledger::waiting,
        "combiner",
        LedgerConfig.DEFAULT.combiner().name());
    metrics.gauge("lockstep.live.clients", "Open streams of live counts.", campaigns::watchers);
  }

  /** The health of this node's background parts. */
  static void addHealth(
      Metrics metrics, Optional<DiskSpace> disk, JobRunner jobs, Streams streams) {
    metrics.gauge(
        "lockstep.disk.free.bytes",
        "Room left where the embedded database lives.",
        () -> disk.map(DiskSpace::freeBytes).orElse(Double.NaN));
    metrics.gauge(
        "lockstep.jobs.worker.healthy",
        "1 while this node's worker reads, runs and completes jobs, else 0.",
        () -> jobs.health().isHealthy() ? 1 : 0);
    metrics.gauge(
        "lockstep.relay.healthy",
        "1 while this node's relay reads and delivers events, else 0.",
        () -> streams.problems().isEmpty() ? 1 : 0);
  }
}
