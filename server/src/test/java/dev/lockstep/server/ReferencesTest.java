package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.lab.Lab;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Guarantees (G1, G2 …) and errata (E1, E2 …) have a page each, and every reference to one of them,
 * or to a test, leads somewhere.
 */
class ReferencesTest {
  private static final String GUARANTEES = "docs/guarantees.md";
  private static final String ERRATA = "docs/errata.md";

  private static final Pattern REFERENCE = Pattern.compile("(?<![\\w.])([GE][1-9]\\d?)(?!\\w)");
  private static final Pattern TEST_CLASS = Pattern.compile("(?<!\\w)([A-Z]\\w*Test)(?!\\w)");
  private static final Pattern LAB = Pattern.compile("Lab: ((?:\\*[a-z0-9-]+\\*(?:, )?)+)");
  private static final Pattern SCENARIO = Pattern.compile("\\*([a-z0-9-]+)\\*");
  private static final Set<String> TEXTS =
      Set.of("java", "md", "js", "html", "css", "sql", "yaml", "xml");

  @Test
  void everyGuaranteeAndErratumThatIsNamedHasItsEntry() throws IOException {
    Set<String> entries = new TreeSet<>(sections(GUARANTEES, "G").keySet());
    entries.addAll(sections(ERRATA, "E").keySet());
    List<Path> files = new ArrayList<>(Repository.documents());
    for (Path source : Repository.sources()) {
      try (Stream<Path> below = Files.walk(source)) {
        below.filter(ReferencesTest::isText).forEach(files::add);
      }
    }
    List<String> unknown = new ArrayList<>();
    for (Path file : files) {
      for (String reference : matches(REFERENCE, Files.readString(file))) {
        if (!entries.contains(reference)) {
          unknown.add(reference + " in " + Repository.name(file));
        }
      }
    }
    assertThat(unknown).isEmpty();
  }

  @Test
  void everyTestThatADocumentNamesExists() throws IOException {
    Set<String> tests = testClasses();
    List<String> unknown = new ArrayList<>();
    for (Path document : Repository.documents()) {
      for (String name : matches(TEST_CLASS, Files.readString(document))) {
        if (!tests.contains(name)) {
          unknown.add(name + " in " + Repository.name(document));
        }
      }
    }
    assertThat(unknown).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({GUARANTEES + ", G, 10", ERRATA + ", E, 20"})
  void everyEntryIsThereOnceAndNamesATestThatExists(String page, String letter, int count)
      throws IOException {
    Map<String, String> sections = sections(page, letter);
    Set<String> tests = testClasses();

    assertThat(sections.keySet())
        .containsExactlyInAnyOrderElementsOf(
            IntStream.rangeClosed(1, count).mapToObj(n -> letter + n).toList());
    assertThat(sections)
        .allSatisfy(
            (entry, text) ->
                assertThat(matches(TEST_CLASS, text)).as(entry).anyMatch(tests::contains));
  }

  @Test
  void everyLabScenarioOfTheErrataIsInTheCatalogue() throws IOException {
    List<String> scenarios = new ArrayList<>();
    for (String list : matches(LAB, read(ERRATA))) {
      scenarios.addAll(matches(SCENARIO, list));
    }
    assertThat(scenarios).isNotEmpty().allMatch(id -> Lab.scenario(id).isPresent());
  }

  /** The text under each heading such as {@code ## G1: …}. */
  private static Map<String, String> sections(String page, String letter) throws IOException {
    Map<String, String> sections = new TreeMap<>();
    for (String section : read(page).split("(?m)^## ", -1)) {
      List<String> heading = matches(Pattern.compile("^(" + letter + "\\d+): "), section);
      if (!heading.isEmpty()) {
        assertThat(sections.put(heading.get(0), section)).as("a second " + heading).isNull();
      }
    }
    return sections;
  }

  private static Set<String> testClasses() throws IOException {
    Set<String> names = new TreeSet<>();
    for (Path source : Repository.sources()) {
      Path tests = source.resolve("test");
      if (Files.isDirectory(tests)) {
        try (Stream<Path> files = Files.walk(tests)) {
          names.addAll(
              files
                  .map(file -> file.getFileName().toString())
                  .filter(name -> name.endsWith("Test.java"))
                  .map(name -> name.substring(0, name.length() - ".java".length()))
                  .collect(Collectors.toSet()));
        }
      }
    }
    return names;
  }

  private static boolean isText(Path file) {
    String name = file.getFileName().toString();
    return Files.isRegularFile(file) && TEXTS.contains(name.substring(name.lastIndexOf('.') + 1));
  }

  private static String read(String document) throws IOException {
    return Files.readString(Repository.root().resolve(document));
  }

  private static List<String> matches(Pattern pattern, String text) {
    return pattern.matcher(text).results().map((MatchResult result) -> result.group(1)).toList();
  }
}
