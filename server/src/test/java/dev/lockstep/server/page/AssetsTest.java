package dev.lockstep.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AssetsTest {
  private static final Path FOLDER = Path.of("src/main/resources/dev/lockstep/server/web");

  @Test
  void everyScriptAndStyleOfTheFolderIsServed() throws Exception {
    try (Stream<Path> files = Files.list(FOLDER)) {
      assertThat(files.map(file -> file.getFileName().toString()).filter(n -> !n.endsWith(".svg")))
          .containsExactlyInAnyOrderElementsOf(Assets.NAMES);
    }
  }

  /** The browser refuses it anyway; this says so before anybody opens one. */
  @Test
  void noScriptMakesMarkupOutOfText() throws Exception {
    for (String name : Assets.NAMES) {
      assertThat(Files.readString(FOLDER.resolve(name)))
          .as(name)
          .doesNotContain("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")
          .doesNotContainPattern("https?://(?!www\\.w3\\.org/2000/svg)");
    }
  }
}
