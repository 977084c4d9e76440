package dev.lockstep.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Starts that must not succeed say why in one line and change nothing. */
class PostgresRefusalTest {

  private Path directory;

  @BeforeEach
  void setUp(@TempDir Path temporary) {
    directory = temporary;
  }

  @Test
  void aSecondStartOnLiveDataIsRefusedAndHarmsNothing() throws Exception {
    try (PostgresServer server = PostgresServer.start(config())) {
      for (int attempt = 0; attempt < 2; attempt++) {
        assertThat(messageOf(() -> PostgresServer.start(config())))
            .contains(directory.toRealPath() + " is in use by another Lockstep (process ")
            .contains("(process " + ProcessHandle.current().pid() + ")")
            .endsWith("Stop it or choose another --data folder.");
      }
      assertThat(Sql.value(server, "SELECT 1")).isEqualTo("1");
    }
  }

  @Test
  void aFolderThatCannotBeWrittenIsNamed() throws IOException {
    Path folder;
    if (Command.runPlain(List.of("id", "-u"), Duration.ofSeconds(10)).output().equals("0")) {
      // Permissions do not bind root; a file in the way does.
      folder = Files.writeString(directory.resolve("file"), "").resolve("below");
    } else {
      folder = Files.createDirectory(directory.resolve("locked"));
      Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("r-x------"));
    }
    assertThat(messageOf(() -> PostgresServer.start(PostgresConfig.forTests(folder))))
        .startsWith("Cannot use the folder " + folder)
        .contains("Choose another --data folder");
  }

  @Test
  void dataOfAnotherMajorVersionAreLeftUntouched() throws Exception {
    PostgresServer server = PostgresServer.start(config());
    server.stop();
    Path version = server.dataDirectory().resolve("PG_VERSION");
    Path settings = server.dataDirectory().resolve("lockstep.conf");
    Files.writeString(version, "9\n");
    Files.writeString(settings, "# as it was\n");

    assertThat(messageOf(() -> PostgresServer.start(config())))
        .contains("was written by PostgreSQL 9 and this is PostgreSQL " + server.majorVersion());
    assertThat(settings).hasContent("# as it was\n");

    Files.writeString(version, server.majorVersion() + "\n");
    PostgresServer.start(config()).close();
  }

  @Test
  void aFolderWithOtherThingsInItIsNotTakenForData() throws IOException {
    Path photo = Files.createDirectory(directory.resolve("data")).resolve("holiday.jpg");
    Files.writeString(photo, "sea");
    assertThat(messageOf(() -> PostgresServer.start(config())))
        .contains("is not a PostgreSQL data folder");
    assertThat(photo).hasContent("sea");
  }

  @Test
  void aPortInUseIsNamed() throws IOException {
    try (ServerSocket other =
        new ServerSocket(0, 1, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}))) {
      PostgresConfig config = config().withPort(other.getLocalPort());
      assertThat(messageOf(() -> PostgresServer.start(config)))
          .isEqualTo(
              "Port "
                  + other.getLocalPort()
                  + " is taken by another program. Stop it or choose another database port.");
    }
    // The failed start gave the folder back.
    PostgresServer.start(config()).close();
  }

  @Test
  void theEndOfTheLogItsNameAndAnAdviceTellWhyAStartFailed() throws IOException {
    PostgresConfig config = config().withSetting("shared_buffers", "plenty");
    assertThatThrownBy(() -> PostgresServer.start(config))
        .isInstanceOf(PostgresException.class)
        .hasMessageStartingWith("PostgreSQL did not start in ")
        .hasMessageContaining("Its log, " + directory.toRealPath().resolve("postgres.log"))
        .hasMessageContaining("invalid value for parameter \"shared_buffers\"")
        .hasMessageEndingWith("then start again. The data were left as they are.");
  }

  @Test
  void aMissingPasswordIsNotReplaced() throws IOException {
    PostgresServer.start(config()).close();
    Files.delete(directory.resolve("password"));
    assertThat(messageOf(() -> PostgresServer.start(config()))).contains("password is missing");
    assertThat(directory.resolve("password")).doesNotExist();
  }

  @Test
  void anUnsupportedPlatformIsToldWhatIsSupported() {
    assertThat(messageOf(() -> Binaries.archive("SunOS", "sparcv9")))
        .startsWith("No PostgreSQL for SunOS on sparcv9")
        .contains("Linux x86-64, Linux arm64, macOS arm64");
  }

  @Test
  void aConfigurationThatMakesNoSenseIsRefusedAtOnce() {
    assertThatThrownBy(() -> config().withPort(65_536))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> config().withSetting("port", "1")).hasMessageContaining("withPort");
    assertThatThrownBy(() -> config().withSetting("work_mem = 1MB; x", "1"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> config().withSetting("work_mem", "1MB'\nfsync = 'off"))
        .hasMessageContaining("control character");
    assertThat(config().withPort(65_535).port()).isEqualTo(65_535);
    assertThat(PostgresConfig.durable(directory))
        .isEqualTo(new PostgresConfig(directory, directory.resolve("binaries"), 0, true, Map.of()));
  }

  /** One line for a person: no stack of causes, no line break. */
  static String messageOf(ThrowingCallable start) {
    PostgresException refusal = catchThrowableOfType(PostgresException.class, start);
    assertThat(refusal).isNotNull();
    String message = String.valueOf(refusal.getMessage());
    assertThat(message).doesNotContain("\n");
    return message;
  }

  private PostgresConfig config() {
    return PostgresConfig.forTests(directory);
  }
}
