package dev.lockstep.postgres;

import java.io.IOException;
import java.nio.file.Files;

/** What tests look at behind a server's back. */
final class Postgres {

  private Postgres() {}

  /** The number of its main process. */
  static long pid(PostgresServer server) throws IOException {
    return Long.parseLong(
        Files.readAllLines(server.dataDirectory().resolve("postmaster.pid")).get(0).strip());
  }
}
