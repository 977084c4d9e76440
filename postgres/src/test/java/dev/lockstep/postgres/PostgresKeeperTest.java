package dev.lockstep.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.postgres.PostgresKeeper.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A server that ends although nobody stopped it. */
@Timeout(120)
class PostgresKeeperTest {
  private static final Patience IMPATIENT =
      new Patience(2, Duration.ofMillis(10), 2, Duration.ofMinutes(10));

  private final CompletableFuture<PostgresException> gaveUp = new CompletableFuture<>();
  private Path directory;

  @BeforeEach
  void setUp(@TempDir Path temporary) {
    directory = temporary;
  }

  @Test
  void aServerThatWasKilledIsStartedAgainWithItsDataOnItsPort() throws Exception {
    try (PostgresServer server = start()) {
      PostgresKeeper keeper = PostgresKeeper.over(server, IMPATIENT, gaveUp::complete);
      Sql.execute(server, "CREATE TABLE kept AS SELECT 42 AS answer");
      long first = Postgres.pid(server);

      kill(server);

      awaitAnother(server, first);
      assertThat(Sql.value(server, "SELECT answer FROM kept")).isEqualTo("42");
      assertThat(gaveUp).isNotDone();
      keeper.close();
    }
  }

  /** The JVM takes every process for ended while it may open no more files. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void aProcessIsThereUntilTheSystemKnowsItNoMore() throws Exception {
    assertThat(Postmaster.isThere(ProcessHandle.current().pid())).isTrue();
    Process ended = new ProcessBuilder("true").start();
    assertThat(ended.waitFor()).isZero();
    assertThat(Postmaster.isThere(ended.pid())).isFalse();
  }

  @Test
  void aServerThatCannotBeStartedAgainIsGivenUpWithItsReason() throws Exception {
    try (PostgresServer server = start()) {
      PostgresKeeper keeper = PostgresKeeper.over(server, IMPATIENT, gaveUp::complete);
      Path control = server.dataDirectory().resolve("global/pg_control");
      Files.move(control, control.resolveSibling("pg_control.away"));

      kill(server);

      assertThat(gaveUp.get(60, TimeUnit.SECONDS).getMessage())
          .startsWith("PostgreSQL ended and could not be started again (2 tries).")
          .contains(directory.toRealPath().resolve("postgres.log").toString())
          .contains("pg_control");
      keeper.close();
    }
  }

  @Test
  void aServerThatKeepsEndingIsGivenUp() throws Exception {
    try (PostgresServer server = start()) {
      PostgresKeeper keeper = PostgresKeeper.over(server, IMPATIENT, gaveUp::complete);
      for (int time = 0; time < IMPATIENT.endings(); time++) {
        long before = Postgres.pid(server);
        kill(server);
        awaitAnother(server, before);
      }
      kill(server);

      assertThat(gaveUp.get(60, TimeUnit.SECONDS).getMessage())
          .startsWith("PostgreSQL ended 3 times within 10 min and is not restarted.");
      keeper.close();
    }
  }

  @Test
  void aServerThatIsStoppedAfterItsKeeperStaysStopped() throws Exception {
    PostgresServer server = start();
    PostgresKeeper.over(server, IMPATIENT, gaveUp::complete).close();
    server.stop();

    assertThat(server.dataDirectory().resolve("postmaster.pid")).doesNotExist();
    assertThat(gaveUp).isNotDone();
  }

  private PostgresServer start() {
    return PostgresServer.start(PostgresConfig.forTests(directory).withDurable(true));
  }

  private static void kill(PostgresServer server) throws IOException {
    ProcessHandle.of(Postgres.pid(server)).orElseThrow().destroyForcibly();
  }

  /** Until another process than this one answers. */
  private static void awaitAnother(PostgresServer server, long before) {
    while (true) {
      try {
        Sql.value(server, "SELECT 1");
        if (Postgres.pid(server) != before) {
          return;
        }
      } catch (Exception e) {
        // Not yet: it recovers.
      }
      Thread.onSpinWait();
    }
  }
}
