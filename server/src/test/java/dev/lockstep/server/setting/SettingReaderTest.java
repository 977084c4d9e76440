package dev.lockstep.server.setting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SettingReaderTest {
  private static final String SECRET = "not-to-be-seen-by-anybody";

  @SuppressWarnings("NullAway.Init")
  @TempDir
  Path folder;

  private final Map<String, String> flags = new HashMap<>();
  private final Map<String, String> environment = new HashMap<>();

  /** What the tests declare. */
  private record Read(
      int size,
      Duration patience,
      Optional<String> key,
      List<SettingValue> values,
      List<String> warnings) {
    SettingValue value(String name) {
      return values.stream().filter(v -> v.setting().name().equals(name)).findFirst().orElseThrow();
    }
  }

  private Read read() {
    SettingReader in = new SettingReader(Sources.of(flags, environment)).group("Database");
    int size = in.read("pool.size", Kind.number(4, 100), 20, "How many connections.");
    Duration wait =
        in.read(
            "pool.wait",
            Kind.duration(Duration.ofMillis(250), Duration.ofMinutes(1)),
            Duration.ofSeconds(3),
            "How long to wait.");
    Optional<String> key =
        in.readSecret("operator.key", Kind.text("\\S{3,}", "3 letters", "abc"), "none", "A key.");
    in.require(
        wait.toSeconds() <= size, "pool.wait", "must not exceed", "pool.size", "it is a test");
    return new Read(size, wait, key, in.finish(), in.warnings());
  }

  private Path file(String text) throws Exception {
    Path file = Files.writeString(folder.resolve("lockstep.properties"), text);
    flags.put("--config", file.toString());
    return file;
  }

  @Test
  void aFlagWinsOverAVariableAVariableOverTheFileTheFileOverTheDefault() throws Exception {
    assertThat(read().size()).isEqualTo(20);
    assertThat(read().value("pool.size").source()).isEqualTo("default");
    file("# first\npool.size = 30\n");
    assertThat(read().size()).isEqualTo(30);
    assertThat(read().value("pool.size").source()).isEqualTo("lockstep.properties line 2");
    environment.put("LOCKSTEP_POOL_SIZE", "40");
    assertThat(read().size()).isEqualTo(40);
    assertThat(read().value("pool.size").source()).isEqualTo("LOCKSTEP_POOL_SIZE");
    flags.put("--pool-size", "50");
    assertThat(read().size()).isEqualTo(50);
    assertThat(read().value("pool.size").source()).isEqualTo("--pool-size");
  }

  @Test
  void theFileIsNamedByTheFlagElseByTheVariable() throws Exception {
    Path file = file("pool.size = 30");
    flags.clear();
    environment.put("LOCKSTEP_CONFIG", file.toString());
    assertThat(read().size()).isEqualTo(30);
    flags.put("--config", Files.writeString(folder.resolve("other"), "pool.size=31").toString());
    assertThat(read().size()).isEqualTo(31);
  }

  @Test
  void anUnknownNameIsRefusedWithTheNearestOneWhereverItStands() throws Exception {
    file("\n\npool.sise = 3");
    environment.put("LOCKSTEP_POOL_SISE", "3");
    flags.put("--pool-sise", "3");
    assertRefused(
        "unknown setting 'pool.sise' in lockstep.properties line 3; did you mean 'pool.size'?",
        "unknown setting 'LOCKSTEP_POOL_SISE' in the environment; did you mean 'LOCKSTEP_POOL_SIZE'?",
        "unknown setting '--pool-sise'; did you mean '--pool-size'?");
  }

  @Test
  void aNameThatIsNearNoneIsStillRefused() {
    flags.put("--frobnicate", "3");
    assertRefused("unknown setting '--frobnicate'; ./lockstep settings lists all");
  }

  @Test
  void variablesOfTheScriptTheTestsAndKubernetesArePassedOver() {
    for (String name :
        List.of(
            "LOCKSTEP_TERMINAL",
            "LOCKSTEP_CHROMIUM",
            "LOCKSTEP_PGBOUNCER",
            "LOCKSTEP_PROMETHEUS",
            "LOCKSTEP_SERVICE_HOST",
            "LOCKSTEP_SERVICE_PORT_HTTP",
            "LOCKSTEP_PORT_8080_TCP_ADDR",
            "LOCKSTEP_DB_PORT_5432_TCP")) {
      environment.put(name, "x");
    }
    environment.put("LOCKSTEP_DB_PORT", "tcp://10.0.0.1:5432");
    environment.put("LOCKSTEPPER", "x");
    assertThat(read().size()).isEqualTo(20);
  }

  @Test
  void aNameOfALaterReleaseIsPassedOverWithAWarning() {
    environment.put("LOCKSTEP_REDIS_URL", "redis://localhost");
    assertThat(read().warnings())
        .containsExactly("LOCKSTEP_REDIS_URL is set, and this release has no use for it");
  }

  @ParameterizedTest
  @ValueSource(strings = {"3", "101", "-5", "+5", "5.0", "٥", "five", "99999999999", "0x10", "5 5"})
  void aWrongValueIsToldWithItsSourceAndWhatIsAllowed(String wrong) throws Exception {
    file("pool.size = " + wrong);
    assertRefused(
        "pool.size in lockstep.properties line 1 must be a whole number from 4 to 100, not '%s'"
            .formatted(wrong));
    flags.clear();
    environment.put("LOCKSTEP_POOL_SIZE", wrong);
    assertRefused(
        "LOCKSTEP_POOL_SIZE must be a whole number from 4 to 100, not '%s'".formatted(wrong));
  }

  @Test
  void bothEndsAreAllowed() {
    flags.put("--pool-size", "4");
    flags.put("--pool-wait", "250ms");
    assertThat(read().size()).isEqualTo(4);
    assertThat(read().patience()).isEqualTo(Duration.ofMillis(250));
    flags.put("--pool-size", "100");
    flags.put("--pool-wait", "1m");
    assertThat(read().size()).isEqualTo(100);
    assertThat(read().patience()).isEqualTo(Duration.ofMinutes(1));
    flags.put("--pool-wait", "60001ms");
    assertRefused(
        "--pool-wait must be a time from 250ms to 1m, such as 250ms, 3s, 15m, 24h or 7d, not '60001ms'");
    flags.put("--pool-wait", "249ms");
    assertThatThrownBy(this::read).hasMessageContaining("not '249ms'");
  }

  @Test
  void aRelationNamesBothSettingsTheirValuesAndTheirSources() {
    flags.put("--pool-size", "5");
    environment.put("LOCKSTEP_POOL_WAIT", "6s");
    assertRefused(
        "pool.wait (6s, LOCKSTEP_POOL_WAIT) must not exceed pool.size (5, --pool-size): it is a test");
  }

  @Test
  void everythingThatIsWrongIsToldAtOnce() throws Exception {
    file("pool.size = 3\nnonsense\npool.wait = soon\n");
    assertThatThrownBy(this::read)
        .isInstanceOf(WrongSettings.class)
        .satisfies(e -> assertThat(String.valueOf(e.getMessage()).lines()).hasSize(3));
  }

  @Test
  void anEmptyVariableCountsAsUnsetButAnEmptyLineOrFlagIsAMistake() throws Exception {
    environment.put("LOCKSTEP_POOL_SIZE", "");
    assertThat(read().size()).isEqualTo(20);
    file("pool.size =");
    assertRefused("pool.size in lockstep.properties line 1 needs a value");
    flags.clear();
    flags.put("--pool-size", "");
    assertRefused("--pool-size needs a value");
  }

  @Test
  void aFileMayHaveAByteOrderMarkAndEitherKindOfLineEnd() throws Exception {
    file("\uFEFFpool.size = 30\r\n  ! nothing\r\n\tpool.wait=\t5s \r\n");
    assertThat(read().size()).isEqualTo(30);
    assertThat(read().patience()).isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void nothingIsEscapedInAFile() throws Exception {
    file("operator.key = C:\\new=\\u0041#!\"'\\\n");
    assertThat(read().key()).hasValue("C:\\new=\\u0041#!\"'\\");
  }

  @Test
  void aNameThatIsThereTwiceIsRefused() throws Exception {
    file("pool.size = 30\npool.wait = 3s\npool.size = 30\n");
    assertRefused("'pool.size' is set twice in lockstep.properties, in lines 1 and 3");
  }

  @Test
  void aFileThatCannotBeReadSaysWhy() throws Exception {
    flags.put("--config", folder.resolve("none").toString());
    assertThatThrownBy(this::read)
        .hasMessageContaining("--config: cannot read")
        .hasMessageContaining("there is no such file");
    flags.put("--config", folder.toString());
    assertThatThrownBy(this::read).hasMessageContaining("it is a folder");
    Path file = folder.resolve("latin");
    Files.write(file, "# é".getBytes(StandardCharsets.ISO_8859_1));
    flags.put("--config", file.toString());
    assertThatThrownBy(this::read).hasMessageContaining("it is not UTF-8");
    Files.write(file, new byte[1024 * 1024 + 1]);
    assertThatThrownBy(this::read).hasMessageContaining("more than 1 MiB");
  }

  @Test
  void aSecretIsReadAndNeverShown() throws Exception {
    environment.put("LOCKSTEP_OPERATOR_KEY", SECRET);
    Read read = read();
    assertThat(read.key()).hasValue(SECRET);
    assertThat(read.values().toString()).doesNotContain(SECRET);
    assertThat(SettingsText.plain(read.values())).doesNotContain(SECRET).contains("(set, hidden)");
    assertThat(SettingsText.json(read.values())).doesNotContain(SECRET);
    environment.put("LOCKSTEP_OPERATOR_KEY", SECRET + " with a space");
    assertThatThrownBy(this::read)
        .hasMessage("LOCKSTEP_OPERATOR_KEY must be 3 letters")
        .hasMessageNotContaining(SECRET);
    environment.clear();
    file("operator.key " + SECRET + "\n");
    assertThatThrownBy(this::read).hasMessageNotContaining(SECRET).hasMessageContaining("line 1");
  }

  @Test
  void aSecretHasNoFlag() {
    flags.put("--operator-key", SECRET);
    assertThatThrownBy(this::read)
        .hasMessageContaining("set LOCKSTEP_OPERATOR_KEY instead")
        .hasMessageNotContaining(SECRET);
  }

  @Test
  void aSecretInAFileThatEverybodyCanReadGetsAWarning() throws Exception {
    Path file = file("operator.key = " + SECRET);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    assertThat(read().warnings())
        .singleElement()
        .asString()
        .contains("lockstep.properties holds secrets (operator.key)", "chmod 600")
        .doesNotContain(SECRET);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    assertThat(read().warnings()).isEmpty();
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    Files.writeString(file, "pool.size = 30");
    assertThat(read().warnings()).isEmpty();
  }

  @Test
  void flagsAreNamesWithValues() {
    assertThat(Sources.flags(List.of("--port", "0", "--data=a=b", "--pool-size", "-1")))
        .isEqualTo(Map.of("--port", "0", "--data", "a=b", "--pool-size", "-1"));
    for (List<String> wrong :
        List.of(
            List.of("--port"),
            List.of("--port", "--data", "x"),
            List.of("--port", "1", "--port", "2"),
            List.of("-p", "1"),
            List.of("--", "1"),
            List.of("port"))) {
      assertThatThrownBy(() -> Sources.flags(wrong)).isInstanceOf(WrongSettings.class);
    }
  }

  @Test
  void whatWasWrittenIsRepeatedOnOneShortLine() {
    environment.put("LOCKSTEP_POOL_SIZE", "1\n2\u001b" + "x".repeat(1_000));
    assertThatThrownBy(this::read)
        .satisfies(
            e ->
                assertThat(String.valueOf(e.getMessage()))
                    .hasSizeLessThan(200)
                    .doesNotContain("\n", "\u001b"));
  }

  private void assertRefused(String... problems) {
    assertThatThrownBy(this::read)
        .isInstanceOf(WrongSettings.class)
        .hasMessage(String.join("\n", problems));
  }
}
