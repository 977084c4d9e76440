package dev.lockstep.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AssetsTest {
  private static final Path FOLDER = Path.of("src/main/resources/dev/lockstep/server/web");

  @Test
  void everyScriptAndStyleOfTheFolderIsServed() throws Exception {
    assertThat(names(FOLDER, ".js")).containsExactlyInAnyOrderElementsOf(Assets.SCRIPTS);
    assertThat(names(FOLDER, ".css")).containsExactlyInAnyOrderElementsOf(Assets.STYLES);
  }

  /** The browser refuses it anyway; this says so before anybody opens one. */
  @Test
  void noScriptMakesMarkupOutOfText() throws Exception {
    for (String name : Assets.SCRIPTS) {
      assertThat(Files.readString(FOLDER.resolve(name)))
          .as(name)
          .doesNotContain("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")
          .doesNotContainPattern("https?://(?!www\\.w3\\.org/2000/svg)");
    }
  }

  private static List<String> names(Path folder, String ending) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .map(file -> folder.relativize(file).toString())
          .filter(name -> name.endsWith(ending))
          .toList();
    }
  }
}
