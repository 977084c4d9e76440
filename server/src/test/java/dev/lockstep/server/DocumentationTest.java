package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * What the documents show is what was compiled and run: every Java block is a copy of a region of a
 * test, named in a comment above it as {@code <!-- snippet: path/to/Test.java#region -->}. In the
 * test the region lies between {@code // snippet: region} and {@code // end: region}.
 */
class DocumentationTest {
  private static final Pattern JAVA_BLOCK =
      Pattern.compile(
          "(?:<!-- snippet: (\\S+)#(\\S+) -->\\s*\\n)?```java\\n(.*?)```", Pattern.DOTALL);
  private static final Pattern COMMAND = Pattern.compile("\\./lockstep ([a-z][a-z-]*)");
  private static final Pattern USAGE_WORD = Pattern.compile("(?m)^  ([a-z][a-z-]*)  ");
  private static final Pattern TEST_NAME = Pattern.compile("`([A-Z]\\w*Test)`");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:\\s]+)(?:#[^)]*)?\\)");
  private static final int README_LINES_MAX = 200;

  @TestFactory
  Stream<DynamicTest> everyJavaBlockIsACopyOfATest() throws IOException {
    return documents().stream()
        .map(path -> DynamicTest.dynamicTest(name(path), () -> checkBlocks(path)));
  }

  @TestFactory
  Stream<DynamicTest> everyRelativeLinkLeadsSomewhere() throws IOException {
    return documents().stream()
        .map(path -> DynamicTest.dynamicTest(name(path), () -> checkLinks(path)));
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
  void everyTestTheReadmeNamesExists() throws IOException {
    List<String> named =
        matches(TEST_NAME, Files.readString(Repository.root().resolve("README.md")));
    assertThat(named).isNotEmpty();
    Set<String> missing = new TreeSet<>(named);
    for (Path tests : testFolders()) {
      try (Stream<Path> files = Files.walk(tests)) {
        files.forEach(file -> missing.remove(file.getFileName().toString().replace(".java", "")));
      }
    }
    assertThat(missing).isEmpty();
  }

  @Test
  void theReadmeStaysShort() throws IOException {
    assertThat(Files.readAllLines(Repository.root().resolve("README.md")))
        .hasSizeLessThanOrEqualTo(README_LINES_MAX);
  }

  private static List<Path> documents() throws IOException {
    List<Path> documents = new ArrayList<>();
    try (Stream<Path> top = Files.list(Repository.root());
        Stream<Path> below = Files.walk(Repository.root().resolve("docs"))) {
      Stream.concat(top, below)
          .filter(p -> p.toString().endsWith(".md"))
          .sorted()
          .forEach(documents::add);
    }
    return documents;
  }

  private static List<Path> testFolders() throws IOException {
    try (Stream<Path> modules = Files.list(Repository.root())) {
      return modules.map(module -> module.resolve("src/test")).filter(Files::isDirectory).toList();
    }
  }

  private static String name(Path document) {
    return Repository.root().relativize(document).toString();
  }

  private static void checkBlocks(Path document) throws IOException {
    Matcher block = JAVA_BLOCK.matcher(Files.readString(document));
    while (block.find()) {
      String source = block.group(1);
      if (source == null) {
        fail("This block has no <!-- snippet: … --> line above it:\n" + block.group(3));
      }
      String region = region(Repository.root().resolve(source), block.group(2));
      assertThat(block.group(3))
          .as(
              "The block of %s#%s. It has to read:\n\n```java\n%s```\n",
              source, block.group(2), region)
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
    int begin = indexOf(lines, "// snippet: " + name, source);
    int end = indexOf(lines, "// end: " + name, source);
    // The blank last line would count as the one with the least indent.
    String text = String.join("\n", lines.subList(begin + 1, end)).stripTrailing();
    return text.stripIndent().strip() + "\n";
  }

  private static int indexOf(List<String> lines, String comment, Path source) {
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i).strip().equals(comment)) {
        return i;
      }
    }
    return fail(source + " has no line " + comment);
  }

  private static List<String> matches(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(result -> result.group(1)).toList();
  }
}
