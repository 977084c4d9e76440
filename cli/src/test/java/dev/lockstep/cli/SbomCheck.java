package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The bill of materials against the libraries that the server runs with. Needs a packaged build.
 */
class SbomCheck {
  private static final Path TARGET = Path.of("target");

  @Test
  void itNamesEveryLibraryOfTheServerAndNoneOfTests() throws IOException {
    JsonObject sbom = new JsonObject(Files.readString(TARGET.resolve("lockstep-cli-sbom.json")));

    assertThat(sbom.getString("bomFormat")).isEqualTo("CycloneDX");
    assertThat(sbom.getJsonArray("components").stream().map(JsonObject.class::cast))
        .allSatisfy(component -> assertThat(component.getString("purl")).startsWith("pkg:maven/"))
        .extracting(SbomCheck::fileOf)
        .containsAll(libraries())
        .noneMatch(file -> file.startsWith("junit") || file.contains("-tests"));
  }

  private static String fileOf(JsonObject component) {
    String purl = component.getString("purl");
    int classifier = purl.indexOf("classifier=");
    String suffix =
        classifier < 0 ? "" : "-" + purl.substring(classifier + 11).replaceAll("&.*", "");
    return component.getString("name") + "-" + component.getString("version") + suffix + ".jar";
  }

  private static Iterable<String> libraries() throws IOException {
    try (Stream<Path> files = Files.list(TARGET.resolve("lib"))) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }
}
