package dev.lockstep.published;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Somebody else's project, with nothing of this build but what is published. */
class PublishedArtifactsTest {
  private static final List<String> MODULES = Artifacts.JARS;
  private static final Path CONSUMER = Path.of("src/test/consumer");

  @Test
  void aProjectOutsideThisBuildCompilesAndRuns(@TempDir Path folder) throws Exception {
    Path repository = folder.resolve("published");
    Artifacts.deployTo(repository);
    Path project = folder.resolve("shop");
    copy(CONSUMER, project);
    Path settings = Files.writeString(folder.resolve("settings.xml"), settings(repository));
    Path output = folder.resolve("output.txt");

    Process maven =
        new ProcessBuilder(
                Path.of(System.getProperty("maven.home"), "bin", "mvn").toString(),
                "-B",
                "-ntp",
                // Of the installation, not of the user: what the user says about mirrors holds
                // here, too.
                "-gs",
                settings.toString(),
                "-Dmaven.repo.local=" + folder.resolve("repository"),
                "test")
            .directory(project.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    boolean ended = maven.waitFor(5, TimeUnit.MINUTES);
    maven.destroyForcibly();

    String said = Files.readString(output);
    assertThat(ended).as(said).isTrue();
    assertThat(maven.exitValue()).as(said).isZero();
    assertThat(said).contains("Tests run: 2, Failures: 0, Errors: 0, Skipped: 0");
    // From the folder, not from some other place.
    assertThat(folder.resolve("repository/dev/lockstep/lockstep-core").resolve(Artifacts.VERSION))
        .isDirectoryContaining("glob:**.jar");
  }

  @ParameterizedTest
  @FieldSource("MODULES")
  void aPomIsCompleteAndNeedsNoOther(String module) throws IOException {
    String pom = Files.readString(Artifacts.pom(module));

    assertThat(pom)
        .contains(
            "<artifactId>lockstep-" + module + "</artifactId>",
            "<version>" + Artifacts.VERSION + "</version>",
            "<name>",
            "<description>",
            "<url>https://lockstep.dev</url>",
            "<name>Apache-2.0</name>",
            "<developer>",
            "<connection>scm:git:")
        // No parent, no variable of the machine that built it, nothing that only tests need.
        .doesNotContain("<parent>", "${", "<scope>test</scope>", "<profile>", "<repository>");
  }

  @ParameterizedTest
  @FieldSource("MODULES")
  void aJarHasAModuleName(String module) throws IOException {
    try (JarFile jar = new JarFile(Artifacts.jar(module).toFile())) {
      assertThat(
              jar.getEntry("module-info.class") != null
                  || jar.getManifest().getMainAttributes().getValue("Automatic-Module-Name")
                      != null)
          .isTrue();
    }
  }

  @Test
  void theBomNamesEveryJarAndIsPublishedUnderTheSameVersion() throws IOException {
    String bom = Files.readString(Artifacts.pom(Artifacts.BOM));

    assertThat(bom)
        .contains("<version>" + Artifacts.VERSION + "</version>")
        .doesNotContain("<parent>", "slf4j");
    assertThat(bom.split("<dependency>").length - 1).isEqualTo(MODULES.size());
    for (String module : MODULES) {
      assertThat(bom).contains("<artifactId>lockstep-" + module + "</artifactId>");
    }
  }

  @Test
  void onlyTheseModulesArePublished() throws IOException {
    try (Stream<Path> modules = Files.list(Path.of(".."))) {
      assertThat(
              modules
                  .filter(module -> contains(module.resolve("pom.xml")))
                  .map(module -> module.getFileName().toString()))
          .containsExactlyInAnyOrderElementsOf(
              Stream.concat(MODULES.stream(), Stream.of(Artifacts.BOM)).toList());
    }
  }

  private static boolean contains(Path pom) {
    try {
      return Files.exists(pom)
          && Files.readString(pom).contains("<maven.deploy.skip>false</maven.deploy.skip>");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * What is published; and for all that others publish, what this build has downloaded, before
   * anything is asked for over the network.
   */
  private static String settings(Path repository) {
    URI downloaded = Path.of(System.getProperty("local.repository")).toUri();
    String repositories =
        "<%1$s><id>published</id><url>"
            + repository.toUri()
            + "</url></%1$s>"
            + "<%1$s><id>downloaded</id><url>"
            + downloaded
            + "</url></%1$s>";
    return "<settings><profiles><profile><id>folders</id><repositories>"
        + repositories.formatted("repository")
        + "</repositories><pluginRepositories>"
        + repositories.formatted("pluginRepository")
        + "</pluginRepositories></profile></profiles>"
        + "<activeProfiles><activeProfile>folders</activeProfile></activeProfiles></settings>";
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        Path target = to.resolve(from.relativize(file).toString());
        Files.createDirectories(target.getParent());
        Files.copy(file, target);
      }
    }
  }
}
