package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Every decision says in one form whether it still stands. The third line of {@code
 * docs/adr/NNN-title.md} is one of
 *
 * <pre>
 * Status: accepted.
 * Status: accepted; changed by [NNN](NNN-title.md): what is different now.
 * Status: superseded by [NNN](NNN-title.md).
 * </pre>
 */
class DecisionsTest {
  private static final Pattern FILE = Pattern.compile("(\\d{3})-[a-z0-9-]+\\.md");
  private static final Pattern LINK =
      Pattern.compile("\\[(\\d{3})\\]\\((\\d{3}-[a-z0-9-]+\\.md)\\)");
  private static final Pattern STATUS =
      Pattern.compile(
          "Status: (accepted|accepted; changed by {L}: [^.]+(; by {L}: [^.]+)*|superseded by {L})\\."
              .replace("{L}", LINK.pattern()));

  @TestFactory
  Stream<DynamicTest> everyDecisionSaysWhetherItStands() throws IOException {
    try (Stream<Path> pages = Files.list(Repository.root().resolve("docs/adr"))) {
      return pages.sorted().toList().stream()
          .map(page -> DynamicTest.dynamicTest(Repository.name(page), () -> check(page)));
    }
  }

  private static void check(Path page) throws IOException {
    Matcher file = FILE.matcher(page.getFileName().toString());
    assertThat(file.matches()).as("NNN-title.md").isTrue();
    List<String> lines = Files.readAllLines(page);
    assertThat(lines.get(0)).startsWith("# " + file.group(1) + ": ");
    assertThat(lines.get(1)).isEmpty();
    assertThat(lines.get(2)).matches(STATUS);
    assertThat(lines.get(3)).isEmpty();
    Matcher link = LINK.matcher(lines.get(2));
    while (link.find()) {
      assertThat(link.group(2)).startsWith(link.group(1));
      assertThat(link.group(1))
          .as("only a later decision changes one")
          .isGreaterThan(file.group(1));
      assertThat(page.resolveSibling(link.group(2))).exists();
    }
  }
}
