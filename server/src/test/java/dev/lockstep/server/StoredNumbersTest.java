package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Statements name what a number stands for: {@code state = {HoldState.HELD}}. And what they return
 * many of is read by name.
 */
class StoredNumbersTest {
  private static final String COLUMN = "\\b(?:state|status|cause|kind)";

  /** A column of ours next to a number, or a choice between numbers of such a column. */
  private static final Pattern BARE =
      Pattern.compile(
          COLUMN
              + "\\s*(?:=|<>|!=|<=?|>=?|(?:NOT )?IN\\s*\\()\\s*\\d"
              + "|CASE\\s+(?:\\w+\\.)?"
              + COLUMN
              + "\\s+WHEN\\s+\\d");

  private static final Pattern TEXT =
      Pattern.compile("\"\"\".*?\"\"\"|\"(?:[^\"\\\\\n]|\\\\.)*\"", Pattern.DOTALL);

  /** The fourth column or a later one. */
  private static final Pattern FOURTH = byPlace("[4-9]|\\d\\d");

  private static final Pattern SEVENTH = byPlace("[7-9]|\\d\\d");

  /** Batches and relays read these rows by the thousand; their columns stand beside the reads. */
  private static final Set<String> HOT =
      Set.of("HoldRow.java", "StateReader.java", "LedgerRows.java", "SnapshotSource.java");

  @Test
  void noStatementHasABareNumberForAState() throws IOException {
    List<String> found = new ArrayList<>();
    for (String module : List.of("core", "server", "gateway", "lab", "kafka")) {
      for (Path file : sources(module)) {
        Matcher text = TEXT.matcher(Files.readString(file));
        while (text.find()) {
          Matcher bare = BARE.matcher(text.group());
          while (bare.find()) {
            found.add(Repository.name(file) + ": " + bare.group());
          }
        }
      }
    }
    assertThat(found).isEmpty();
  }

  @Test
  void aBareNumberIsFound() {
    assertThat(
            Stream.of(
                "WHERE h.state = 0",
                "status NOT IN (3, 4)",
                "p.status IN (0, 1)",
                "CASE a.cause WHEN 2 THEN",
                "x.state <> 0"))
        .allMatch(statement -> BARE.matcher(statement).find());
    assertThat(Stream.of("state = ?", "state = {HoldState.HELD}", "CASE WHEN kind IS NULL THEN 0"))
        .noneMatch(statement -> BARE.matcher(statement).find());
  }

  @Test
  void theServerReadsTheColumnsOfALongRowByName() throws IOException {
    assertThat(found(FOURTH, sources("server"))).isEmpty();
  }

  @Test
  void theLibraryReadsTheColumnsOfAVeryLongRowByName() throws IOException {
    List<Path> sources =
        sources("core").stream()
            .filter(file -> !HOT.contains(file.getFileName().toString()))
            .toList();
    assertThat(found(SEVENTH, sources)).isEmpty();
  }

  @Test
  void aColumnReadByPlaceIsFound() {
    assertThat(SEVENTH.matcher("row.getInt(12)").find()).isTrue();
    assertThat(SEVENTH.matcher("instant(row, 7)").find()).isTrue();
    assertThat(SEVENTH.matcher("row.getInt(6)").find()).isFalse();
  }

  private static Pattern byPlace(String places) {
    return Pattern.compile("\\brow(?:\\.get\\w+\\(|, )(?:" + places + ")\\b");
  }

  private static List<String> found(Pattern pattern, List<Path> sources) throws IOException {
    List<String> found = new ArrayList<>();
    for (Path file : sources) {
      Matcher place = pattern.matcher(Files.readString(file));
      while (place.find()) {
        found.add(Repository.name(file) + ": " + place.group());
      }
    }
    return found;
  }

  private static List<Path> sources(String module) throws IOException {
    try (Stream<Path> files = Files.walk(Repository.root().resolve(module + "/src/main/java"))) {
      return files.filter(file -> file.toString().endsWith(".java")).sorted().toList();
    }
  }
}
