package dev.lockstep.cli;

import dev.lockstep.lab.LabConfig;
import dev.lockstep.postgres.PostgresConfig;
import dev.lockstep.postgres.PostgresException;
import dev.lockstep.postgres.PostgresServer;
import dev.lockstep.server.lifecycle.CannotStart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * A PostgreSQL for one command, in a temporary folder that is removed afterwards, even after
 * Ctrl-C.
 */
final class LabPostgres implements AutoCloseable {
  private final PostgresServer server;
  private final Thread stopper = new Thread(this::stop, "lockstep-lab-stop");
  private boolean stopped;

  private LabPostgres(PostgresServer server) {
    this.server = server;
    Runtime.getRuntime().addShutdownHook(stopper);
  }

  /**
   * Starts a server whose data need not survive.
   *
   * @throws CannotStart with one line that says why
   */
  static LabPostgres start() {
    try {
      Path directory = Files.createTempDirectory("lockstep-lab-");
      return new LabPostgres(PostgresServer.start(PostgresConfig.forTests(directory)));
    } catch (PostgresException e) {
      throw new CannotStart(String.valueOf(e.getMessage()), e);
    } catch (IOException e) {
      throw new CannotStart("there is no room for a temporary database: " + e.getMessage(), e);
    }
  }

  LabConfig config() {
    return new LabConfig(
        server.url(), Map.of("user", server.user(), "password", server.password()));
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(stopper);
    } catch (IllegalStateException ending) {
      return; // The JVM is stopping already, and the stopper does it.
    }
    stop();
  }

  private synchronized void stop() {
    if (stopped) {
      return;
    }
    stopped = true;
    server.discard();
  }
}
