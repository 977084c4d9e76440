package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Repository;
import dev.lockstep.server.lifecycle.Version;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The script at the root, run as a user runs it, as far as it goes without building. */
@Timeout(60)
class ScriptTest {
  @SuppressWarnings("NullAway.Init")
  @TempDir
  Path folder;

  @Test
  void versionIsTheOneThatWasBuilt() throws Exception {
    Ended ended = run(script("version"));
    assertThat(ended).isEqualTo(new Ended(0, "lockstep " + Version.CURRENT + "\n", ""));
  }

  @Test
  void helpNamesEveryWord() throws Exception {
    Ended ended = run(script("help"));
    assertThat(ended.code()).isZero();
    assertThat(ended.out())
        .startsWith("Usage: ")
        .contains(
            "  up ",
            "  settings ",
            "  test ",
            "  bench ",
            "  rush ",
            "  lab ",
            "  verify-draw ",
            "  version ",
            "  help ");
  }

  @Test
  void anUnknownWordGetsTheUsageAndCodeTwo() throws Exception {
    Ended ended = run(script("frobnicate"));
    assertThat(ended.code()).isEqualTo(2);
    assertThat(ended.out()).isEmpty();
    assertThat(ended.err()).startsWith("lockstep: unknown word 'frobnicate'\n").contains("Usage: ");
  }

  @Test
  void noWordGetsTheUsageAndCodeTwo() throws Exception {
    Ended ended = run(script());
    assertThat(ended.code()).isEqualTo(2);
    assertThat(ended.err()).startsWith("Usage: ");
  }

  @Test
  void itFindsItsFolderThroughASymbolicLink() throws Exception {
    Path link =
        Files.createSymbolicLink(
            folder.resolve("lockstep here"), Repository.root().resolve("lockstep"));
    Ended ended = run(new ProcessBuilder(link.toString(), "version").directory(folder.toFile()));
    assertThat(ended.out()).isEqualTo("lockstep " + Version.CURRENT + "\n");
  }

  @Test
  void withoutMavenItSaysWhatToInstall() throws Exception {
    Path checkout = Files.createDirectory(folder.resolve("a checkout"));
    for (String file : List.of("lockstep", "pom.xml")) {
      Files.copy(
          Repository.root().resolve(file),
          checkout.resolve(file),
          StandardCopyOption.COPY_ATTRIBUTES);
    }
    ProcessBuilder builder = new ProcessBuilder(checkout.resolve("lockstep").toString(), "up");
    builder.environment().put("PATH", pathWithoutMaven().toString());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    Ended ended = run(builder);
    assertThat(ended.code()).isEqualTo(1);
    assertThat(ended.err())
        .contains(
            "Maven 3.8 or later was not found",
            "apt-get install openjdk-17-jdk-headless maven",
            "brew install");
  }

  /** The system's ordinary programs, and neither Java nor Maven nor an installer. */
  private Path pathWithoutMaven() throws IOException {
    Path bin = Files.createDirectory(folder.resolve("bin"));
    for (String program :
        List.of(
            "bash",
            "cat",
            "cksum",
            "dirname",
            "find",
            "head",
            "id",
            "readlink",
            "sed",
            "sort",
            "tr")) {
      for (String place : List.of("/bin", "/usr/bin")) {
        Path found = Path.of(place, program);
        if (Files.isExecutable(found) && !Files.exists(bin.resolve(program))) {
          Files.createSymbolicLink(bin.resolve(program), found);
        }
      }
    }
    return bin;
  }

  private ProcessBuilder script(String... words) {
    ProcessBuilder builder = new ProcessBuilder(Repository.root().resolve("lockstep").toString());
    builder.command().addAll(List.of(words));
    return builder.directory(folder.toFile());
  }

  private Ended run(ProcessBuilder builder) throws IOException, InterruptedException {
    return Ended.program(builder, folder);
  }
}
