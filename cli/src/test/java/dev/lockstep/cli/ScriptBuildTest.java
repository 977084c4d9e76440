package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * How the script gets its tools, builds and starts Java: the real script on a machine whose
 * installer, Maven and Java are stand-ins that note what they were asked.
 */
@Timeout(60)
class ScriptBuildTest {
  private static final List<String> PROGRAMS =
      List.of(
          "awk",
          "bash",
          "cat",
          "chmod",
          "cksum",
          "cp",
          "dirname",
          "find",
          "flock",
          "grep",
          "head",
          "ln",
          "ls",
          "mkdir",
          "mv",
          "readlink",
          "rm",
          "sed",
          "sleep",
          "sort",
          "tail",
          "tr");

  private static final String RELEASE = "JAVA_VERSION=\"21.0.1\"\n";

  @SuppressWarnings("NullAway.Init")
  @TempDir
  Path folder;

  private final Map<String, String> environment = new HashMap<>();

  @BeforeEach
  void aMachineWithNothingOnIt() throws IOException {
    for (String place : List.of("bin", "jvm", "checkout", "store")) {
      Files.createDirectory(folder.resolve(place));
    }
    for (String program : PROGRAMS) {
      for (String place : List.of("/bin", "/usr/bin")) {
        Path found = Path.of(place, program);
        Path link = folder.resolve("bin").resolve(program);
        if (Files.isExecutable(found) && !Files.exists(link)) {
          Files.createSymbolicLink(link, found);
        }
      }
    }
    // The one place that a PATH cannot hide.
    String script =
        Files.readString(Repository.root().resolve("lockstep"))
            .replace("/usr/lib/jvm/", folder.resolve("jvm") + "/");
    program(folder.resolve("checkout/lockstep"), script);
    Files.copy(Repository.root().resolve("pom.xml"), folder.resolve("checkout/pom.xml"));
    program(
        folder.resolve("store/mvn"),
        """
        #!/usr/bin/env bash
        [ "$1" != -v ] || { echo "Apache Maven 3.9.9"; exit; }
        echo "mvn $*" >>"$STORE/asked"
        echo "[INFO] Downloaded from central: https://repo/a (1 kB)"
        echo "[INFO] Downloaded from central: https://repo/b (1 kB)"
        echo "[INFO] Building Lockstep 0.1.0-SNAPSHOT                    [1/3]"
        echo "[INFO] Building Lockstep core 0.1.0-SNAPSHOT               [2/3]"
        echo "[INFO] Building Lockstep command line 0.1.0-SNAPSHOT             [3/3]"
        [ ! -e "$STORE/broken" ] || { echo "[ERROR] It does not compile"; exit 1; }
        mkdir -p cli/target/lib
        : >cli/target/lockstep-cli.jar
        """);
    program(
        folder.resolve("store/java"),
        """
        #!/usr/bin/env bash
        printf '%s\\n' "$@"
        """);
  }

  private static void program(Path file, String text) throws IOException {
    Files.writeString(file, text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** Root on Debian or Ubuntu, where the second of the releases we ask for can be had. */
  private void installer() throws IOException {
    program(folder.resolve("bin/id"), "#!/usr/bin/env bash\necho 0\n");
    program(
        folder.resolve("bin/apt-cache"),
        "#!/usr/bin/env bash\n[ \"$2\" = openjdk-21-jdk-headless ]\n");
    program(
        folder.resolve("bin/apt-get"),
        """
        #!/usr/bin/env bash
        echo "apt-get $*" >>"$STORE/asked"
        case "$*" in
          *install*maven) cp "$STORE/mvn" "$BIN/mvn" ;;
          *install*jdk*)
            mkdir -p "$JVM/new/bin"
            cp "$STORE/java" "$JVM/new/bin/java"
            cp "$STORE/java" "$JVM/new/bin/javac"
            printf 'JAVA_VERSION="21.0.1"\\n' >"$JVM/new/release" ;;
        esac
        """);
  }

  private void jdk() throws IOException {
    Path bin = Files.createDirectories(folder.resolve("jvm/there/bin"));
    for (String name : List.of("java", "javac")) {
      Files.copy(folder.resolve("store/java"), bin.resolve(name));
      program(bin.resolve(name), Files.readString(folder.resolve("store/java")));
    }
    Files.writeString(folder.resolve("jvm/there/release"), RELEASE);
  }

  private void maven() throws IOException {
    program(folder.resolve("bin/mvn"), Files.readString(folder.resolve("store/mvn")));
  }

  @Test
  void upInstallsAJdkAndMavenWhereItMay() throws Exception {
    installer();
    Ended ended = run("up", "--port", "0");
    assertThat(ended.code()).as(ended.err()).isZero();
    assertThat(asked())
        .satisfiesExactly(
            line -> assertThat(line).isEqualTo("apt-get update -qq"),
            line -> assertThat(line).contains("install -y").endsWith(" openjdk-21-jdk-headless"),
            line -> assertThat(line).contains("install -y").endsWith(" maven"),
            line -> assertThat(line).startsWith("mvn ").endsWith(" package"));
    assertThat(ended.err())
        .contains(
            "Installing openjdk-21-jdk-headless", "Installing maven", "Building Lockstep", "Built");
    assertThat(ended.out()).contains("dev.lockstep.cli.Main\nup\n--port\n0\n");
  }

  @Test
  void everyWordThatBuildsDoes() throws Exception {
    for (String word : List.of("settings", "rush", "lab", "birthdays", "verify-draw")) {
      installer();
      Files.deleteIfExists(folder.resolve("bin/mvn"));
      Ended ended = run(word);
      assertThat(ended.code()).as(word + ended.err()).isZero();
      assertThat(ended.out()).contains("dev.lockstep.cli.Main\n" + word + "\n");
    }
    assertThat(asked()).filteredOn(line -> line.endsWith(" openjdk-21-jdk-headless")).hasSize(1);
  }

  @Test
  void elsewhereItSaysWhatToInstall() throws Exception {
    program(folder.resolve("bin/id"), "#!/usr/bin/env bash\necho 1000\n");
    Ended noJdk = run("up");
    assertThat(noJdk.code()).isEqualTo(1);
    assertThat(noJdk.err())
        .contains("no JDK of version 17 or later was found", "apt-get install", "brew install");
    jdk();
    Ended noMaven = run("up");
    assertThat(noMaven.code()).isEqualTo(1);
    assertThat(noMaven.err()).contains("Maven 3.8 or later was not found", "dnf install");
    assertThat(folder.resolve("store/asked")).doesNotExist();
  }

  @Test
  void anInstallerThatFailsIsToldAndNothingIsBuilt() throws Exception {
    jdk();
    installer();
    program(folder.resolve("bin/apt-get"), "#!/usr/bin/env bash\n[ \"$1\" = update ]\n");
    Ended ended = run("up");
    assertThat(ended.code()).isEqualTo(1);
    assertThat(ended.err()).contains("could not install maven");
  }

  @Test
  void offATerminalTheBuildTellsOfEachModule() throws Exception {
    jdk();
    maven();
    Ended ended = run("settings");
    assertThat(ended.err().lines())
        .anySatisfy(
            line ->
                assertThat(line)
                    .matches("  module 1 of 3: Lockstep \\(\\d+ s, 2 files downloaded\\)"))
        .anySatisfy(line -> assertThat(line).startsWith("  module 2 of 3: Lockstep core ("))
        .anySatisfy(
            line -> assertThat(line).startsWith("  module 3 of 3: Lockstep command line ("));
    assertThat(ended.err()).doesNotContain("\r", "\u001b");
    assertThat(run("settings").err()).as("built already").isEmpty();
  }

  @Test
  void aBuildThatFailsShowsItsErrors() throws Exception {
    jdk();
    maven();
    Files.createFile(folder.resolve("store/broken"));
    Ended ended = run("up");
    assertThat(ended.code()).isEqualTo(1);
    assertThat(ended.err()).contains("[ERROR] It does not compile", "the build failed");
  }

  @Test
  void theHeapComesFromAFlagAVariableOrTheFile() throws Exception {
    jdk();
    maven();
    assertThat(heap("up")).isEqualTo("-Xmx1024m");
    Path file = folder.resolve("my lockstep.properties");
    Files.writeString(file, "\uFEFF heap =  2g \r\nport = 1\r\n");
    assertThat(heap("up", "--config", file.toString())).isEqualTo("-Xmx2048m");
    assertThat(heap("up", "--config=" + file)).isEqualTo("-Xmx2048m");
    environment.put("LOCKSTEP_CONFIG", file.toString());
    assertThat(heap("up")).isEqualTo("-Xmx2048m");
    environment.put("LOCKSTEP_HEAP", "768M");
    assertThat(heap("up")).isEqualTo("-Xmx768m");
    assertThat(heap("up", "--heap", "512m")).isEqualTo("-Xmx512m");
    assertThat(heap("up", "--heap=1g")).isEqualTo("-Xmx1024m");
    assertThat(heap("up", "--heap", "524288k")).isEqualTo("-Xmx512m");
  }

  @Test
  void aHeapThatIsNoneStartsJavaWhichSaysSo() throws Exception {
    jdk();
    maven();
    for (String wrong :
        List.of("much", "1m", "255m", "9999g", "-1g", "08", "1g; ls", "99999999999g")) {
      assertThat(heap("up", "--heap", wrong)).as(wrong).isEqualTo("-Xmx1024m");
    }
    Files.writeString(folder.resolve("odd"), "#heap = 2g\nheapx = 3g\nmy.heap = 4g\n");
    assertThat(heap("up", "--config", folder.resolve("odd").toString())).isEqualTo("-Xmx1024m");
    assertThat(heap("up", "--config", folder.resolve("none").toString())).isEqualTo("-Xmx1024m");
  }

  private String heap(String... words) throws Exception {
    Ended ended = run(words);
    assertThat(ended.code()).as(ended.err()).isZero();
    return ended.out().lines().filter(line -> line.startsWith("-Xmx")).findFirst().orElseThrow();
  }

  private List<String> asked() throws IOException {
    return Files.readAllLines(folder.resolve("store/asked"));
  }

  private Ended run(String... words) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(folder.resolve("checkout/lockstep").toString())
            .directory(folder.toFile());
    builder.command().addAll(List.of(words));
    Map<String, String> variables = builder.environment();
    variables.keySet().removeIf(name -> name.startsWith("LOCKSTEP_") || name.equals("JAVA_HOME"));
    variables.put("PATH", folder.resolve("bin").toString());
    variables.put("STORE", folder.resolve("store").toString());
    variables.put("BIN", folder.resolve("bin").toString());
    variables.put("JVM", folder.resolve("jvm").toString());
    variables.putAll(environment);
    return Ended.program(builder, folder);
  }
}
