package dev.lockstep.server;

import dev.lockstep.server.api.InFlight;
import dev.lockstep.server.config.ServerConfig;
import dev.lockstep.server.database.Database;
import dev.lockstep.server.metric.Metrics;
import io.vertx.core.Vertx;
import java.net.URI;
import java.util.Optional;
import java.util.function.LongSupplier;
import javax.sql.DataSource;

/**
 * One running server as its parts see it: the database, the settings and shared objects.
 *
 * @param self this server's address as seen from this machine
 * @param nanoTime the clock of rate limits
 */
record Node(
    Database database,
    ServerConfig config,
    Vertx vertx,
    InFlight inFlight,
    URI self,
    Metrics metrics,
    LongSupplier nanoTime) {
  /**
   * The node's name for people. Several nodes may run on one machine, so it includes the process.
   */
  String name() {
    return self.getAuthority() + ", process " + ProcessHandle.current().pid();
  }

  /** Opens connections for notifications, outside the pool. Empty: the parts poll instead. */
  Optional<DataSource> listen() {
    return config.listen() ? Optional.of(database.direct()) : Optional.empty();
  }
}
