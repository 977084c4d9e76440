package dev.lockstep.server;

import dev.lockstep.testkit.TestDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** Some of the server's tables, for tests of one part of it. */
public final class ServerTables {
  private ServerTables() {}

  /** Runs single migrations. Once per database. */
  public static void migrate(TestDatabase database, String... migrations) {
    for (String migration : migrations) {
      String file = "/db/server/" + migration + ".sql";
      try (InputStream sql =
          Objects.requireNonNull(ServerTables.class.getResourceAsStream(file), file)) {
        database.execute(new String(sql.readAllBytes(), StandardCharsets.UTF_8));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
