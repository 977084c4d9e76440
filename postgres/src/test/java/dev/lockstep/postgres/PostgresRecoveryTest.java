package dev.lockstep.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Starts that find the remains of one that ended badly. */
@Timeout(120)
class PostgresRecoveryTest {

  private Path directory;

  @BeforeEach
  void setUp(@TempDir Path temporary) {
    directory = temporary;
  }

  /** A process that owns a server until it is killed. */
  static final class Owner {
    public static void main(String[] args) throws Exception {
      PostgresServer server =
          PostgresServer.start(PostgresConfig.forTests(Path.of(args[0])).withDurable(true));
      Sql.execute(server, "CREATE TABLE kept AS SELECT 42 AS answer");
      System.out.println("pid " + Postgres.pid(server));
      System.in.read();
    }
  }

  @Test
  void aServerWhoseOwnerWasKilledIsStoppedAndRecovered() throws Exception {
    long orphan = killedOwnersServer();
    assertThat(ProcessHandle.of(orphan)).isPresent();

    try (PostgresServer server = PostgresServer.start(config())) {
      assertThat(Sql.value(server, "SELECT answer FROM kept")).isEqualTo("42");
      assertThat(Postgres.pid(server)).isNotEqualTo(orphan);
      awaitExit(orphan);
    }
  }

  @Test
  void aServerWhoseOwnerWasKilledCanBeStoppedWithoutAnother() throws Exception {
    long orphan = killedOwnersServer();

    assertThat(PostgresServer.stopAbandoned(config())).isTrue();
    awaitExit(orphan);
    assertThat(PostgresServer.stopAbandoned(config())).isFalse();
  }

  @Test
  void aServerWhoseOwnerWasKilledCanBeDiscarded() throws Exception {
    long orphan = killedOwnersServer();

    PostgresServer.discardAbandoned(config());
    awaitExit(orphan);
    assertThat(directory).doesNotExist();
    PostgresServer.discardAbandoned(config());
  }

  @Test
  void aLivingOwnerInAnotherProcessIsLeftAlone() throws Exception {
    Process owner = startOwner();
    try {
      long pid = awaitServer(owner);
      String message = PostgresRefusalTest.messageOf(() -> PostgresServer.start(config()));
      assertThat(message)
          .isEqualTo(
              directory.toRealPath()
                  + " is in use by another Lockstep (process "
                  + owner.pid()
                  + "). Stop it or choose another --data folder.");
      assertThat(ProcessHandle.of(pid)).isPresent();
    } finally {
      owner.destroyForcibly().waitFor();
      PostgresServer.stopAbandoned(config());
    }
  }

  @Test
  void aServerThatWasKilledIsRecovered() throws Exception {
    try (PostgresServer server = PostgresServer.start(config())) {
      Sql.execute(server, "CREATE TABLE kept AS SELECT 42 AS answer");
      ProcessHandle.of(Postgres.pid(server)).orElseThrow().destroyForcibly();

      server.restart();
      assertThat(Sql.value(server, "SELECT answer FROM kept")).isEqualTo("42");
    }
  }

  @Test
  void aPidFileThatNowNamesAnotherProgramIsNoObstacleAndThatProgramNoVictim() throws Exception {
    Path data = stoppedCluster();
    Process bystander = new ProcessBuilder("sh", "-c", "read line").start();
    try {
      writePidFile(data, bystander.pid());
      try (PostgresServer server = PostgresServer.start(config())) {
        assertThat(Sql.value(server, "SELECT 1")).isEqualTo("1");
      }
      assertThat(bystander.isAlive()).isTrue();
    } finally {
      bystander.destroyForcibly();
    }
  }

  @Test
  void aPidFileOfNoProcessIsNoObstacle() throws Exception {
    Path data = stoppedCluster();
    Process gone = new ProcessBuilder("sh", "-c", "exit").start();
    gone.waitFor();
    for (String content : List.of(gone.pid() + "\n" + data + "\n", "", "nonsense")) {
      Files.writeString(data.resolve("postmaster.pid"), content);
      try (PostgresServer server = PostgresServer.start(config())) {
        assertThat(Sql.value(server, "SELECT 1")).isEqualTo("1");
      }
    }
  }

  @Test
  void anInitialisationThatWasKilledIsForgotten() throws Exception {
    Path halfDone = Files.createDirectories(directory.resolve("data.initdb-1/base/1"));
    Files.writeString(halfDone.resolveSibling("PG_VERSION"), "1");
    Files.writeString(directory.resolve("password.new"), "");
    Files.createDirectory(directory.resolve("data"));

    try (PostgresServer server = PostgresServer.start(config())) {
      assertThat(Sql.value(server, "SELECT 1")).isEqualTo("1");
      assertThat(directory.resolve("data.initdb-1")).doesNotExist();
    }
  }

  /** It removes its pid file shortly before it exits, and is reaped by whoever inherited it. */
  private static void awaitExit(long pid) {
    ProcessHandle.of(pid)
        .ifPresent(process -> process.onExit().orTimeout(60, TimeUnit.SECONDS).join());
  }

  private Path stoppedCluster() {
    try (PostgresServer server = PostgresServer.start(config())) {
      return server.dataDirectory();
    }
  }

  private static void writePidFile(Path data, long pid) throws IOException {
    Files.writeString(
        data.resolve("postmaster.pid"), pid + "\n" + data + "\n1\n5432\n\n127.0.0.1\n\nready\n");
  }

  private long killedOwnersServer() throws Exception {
    Process owner = startOwner();
    try {
      return awaitServer(owner);
    } finally {
      owner.destroyForcibly().waitFor();
    }
  }

  private Process startOwner() throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-cp",
            System.getProperty("java.class.path"),
            Owner.class.getName(),
            directory.toString())
        .redirectErrorStream(true)
        .start();
  }

  private static long awaitServer(Process owner) throws IOException {
    StringBuilder said = new StringBuilder();
    BufferedReader output = owner.inputReader(StandardCharsets.UTF_8);
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      if (line.startsWith("pid ")) {
        return Long.parseLong(line.substring("pid ".length()));
      }
      said.append(line).append('\n');
    }
    throw new AssertionError("the owner ended:\n" + said);
  }

  private PostgresConfig config() {
    return PostgresConfig.forTests(directory).withDurable(true);
  }
}
