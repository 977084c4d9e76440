package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * What the documents show is what was compiled and run: every block of Java or XML is a copy of a
 * region of a test, named in a comment above it as {@code <!-- snippet: path/to/Test.java#region
 * -->}. In the test the region lies between {@code // snippet: region} and {@code // end: region},
 * or the same as comments of XML.
 */
class DocumentationTest {
  private static final Pattern BLOCK =
      Pattern.compile(
          "(?:<!-- snippet: (\\S+)#(\\S+) -->\\s*\\n)?```(?:java|xml)\\n(.*?)```", Pattern.DOTALL);
  private static final Pattern MARK =
      Pattern.compile("\\s*(?://|<!--) (?:snippet|end): \\S+(?: -->)?");
  private static final Pattern COMMAND = Pattern.compile("\\./lockstep ([a-z][a-z-]*)");
  private static final Pattern USAGE_WORD = Pattern.compile("(?m)^  ([a-z][a-z-]*)  ");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:\\s]+)(?:#[^)]*)?\\)");
  private static final Pattern UPKEEP =
      Pattern.compile("\\.(?:every|paced)\\(\\s*[\\w.()]+,\\s*\"([a-z-]+)\"");
  private static final Pattern UPKEEP_ROW =
      Pattern.compile("(?m)^\\| ((?:`[a-z]+(?:-[a-z]+)*`(?:, )?)+) \\| (?:every|with|when) ");
  private static final Pattern QUOTED = Pattern.compile("`([a-z-]+)`");
  private static final int README_LINES_MAX = 200;

  @TestFactory
  Stream<DynamicTest> everyBlockOfCodeIsACopyOfATest() throws IOException {
    return Repository.documents().stream()
        .map(path -> DynamicTest.dynamicTest(Repository.name(path), () -> checkBlocks(path)));
  }

  @TestFactory
  Stream<DynamicTest> everyRelativeLinkLeadsSomewhere() throws IOException {
    return Repository.documents().stream()
        .map(path -> DynamicTest.dynamicTest(Repository.name(path), () -> checkLinks(path)));
  }

  @Test
  void everyCommandOfTheReadmeIsAWordOfTheScript() throws IOException {
    List<String> words =
        matches(USAGE_WORD, Files.readString(Repository.root().resolve("lockstep")));
    List<String> shown = matches(COMMAND, Files.readString(Repository.root().resolve("README.md")));
    assertThat(shown).isNotEmpty();
    assertThat(words).containsAll(shown);
  }

  @Test
  void everyUpkeepJobIsInTheTableOfUpkeep() throws IOException {
    Path root = Repository.root();
    List<String> kinds = new ArrayList<>();
    try (Stream<Path> sources = Files.walk(root.resolve("server/src/main/java"))) {
      for (Path source : sources.filter(p -> p.toString().endsWith(".java")).toList()) {
        kinds.addAll(matches(UPKEEP, Files.readString(source)));
      }
    }
    String page = Files.readString(root.resolve("docs/operations.md"));
    assertThat(kinds).isNotEmpty();
    assertThat(matches(UPKEEP_ROW, page).stream().flatMap(cell -> matches(QUOTED, cell).stream()))
        .containsExactlyInAnyOrderElementsOf(kinds);
  }

  @Test
  void theReadmeStaysShort() throws IOException {
    assertThat(Files.readAllLines(Repository.root().resolve("README.md")))
        .hasSizeLessThanOrEqualTo(README_LINES_MAX);
  }

  private static void checkBlocks(Path document) throws IOException {
    Matcher block = BLOCK.matcher(Files.readString(document));
    while (block.find()) {
      String source = block.group(1);
      if (source == null) {
        fail("This block has no <!-- snippet: … --> line above it:\n" + block.group(3));
      }
      String region = region(Repository.root().resolve(source), block.group(2));
      assertThat(block.group(3))
          .as("The block of %s#%s. It has to read:\n\n%s\n", source, block.group(2), region)
          .isEqualTo(region);
    }
  }

  private static void checkLinks(Path document) throws IOException {
    for (String link : matches(LINK, Files.readString(document))) {
      assertThat(document.resolveSibling(link)).as(link).exists();
    }
  }

  /** The lines between the two comments, moved to the left margin. */
  private static String region(Path source, String name) throws IOException {
    List<String> lines = Files.readAllLines(source);
    int begin = indexOf(lines, "snippet: " + name, source);
    int end = indexOf(lines, "end: " + name, source);
    // The blank last line would count as the one with the least indent.
    List<String> shown =
        lines.subList(begin + 1, end).stream()
            .filter(line -> !MARK.matcher(line).matches())
            .toList();
    String text = String.join("\n", shown).stripTrailing();
    return text.stripIndent().strip() + "\n";
  }

  private static int indexOf(List<String> lines, String comment, Path source) {
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (line.equals("// " + comment) || line.equals("<!-- " + comment + " -->")) {
        return i;
      }
    }
    return fail(source + " has no line // " + comment);
  }

  private static List<String> matches(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(result -> result.group(1)).toList();
  }
}
