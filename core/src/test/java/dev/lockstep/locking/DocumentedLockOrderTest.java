package dev.lockstep.locking;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.sql.LockOrder.RowKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Every document that names the lock order names it as {@link RowKind} has it. */
class DocumentedLockOrderTest {
  private static final String ORDER =
      Arrays.stream(RowKind.values()).map(RowKind::word).collect(Collectors.joining(", "));
  private static final Pattern LOCKS =
      Pattern.compile("<p>Locks[^:]*:(.*?)(?=<p>|\\*/)", Pattern.DOTALL);
  private static final Pattern KIND =
      Pattern.compile(
          Arrays.stream(RowKind.values())
              .map(RowKind::word)
              .collect(Collectors.joining("|", "\\b(", ")s?\\b")));

  @Test
  void contributingHasTheOrder() throws IOException {
    assertThat(plain(Path.of("../CONTRIBUTING.md"))).contains(ORDER);
  }

  @Test
  void theDecisionHasTheOrder() throws IOException {
    assertThat(plain(Path.of("../docs/adr/002-read-committed-and-explicit-locks.md")))
        .contains(ORDER);
  }

  @Test
  void noPackageNamesItsLocksInAnotherOrder() throws IOException {
    List<String> naming = new ArrayList<>();
    for (Path info : packages()) {
      Matcher locks = LOCKS.matcher(Files.readString(info));
      if (locks.find()) {
        List<RowKind> kinds = kinds(firstSentence(locks.group(1)));
        assertThat(kinds).as(info.toString()).isSorted();
        if (!kinds.isEmpty()) {
          naming.add(info.getParent().getFileName().toString());
        }
      }
    }
    assertThat(naming).contains("once", "hold", "ledger", "outbox", "job");
  }

  @Test
  void anotherOrderIsSeen() {
    assertThat(kinds("pools, holds and outbox keys"))
        .containsExactly(RowKind.POOL, RowKind.HOLD, RowKind.OUTBOX_KEY);
  }

  private static List<RowKind> kinds(String text) {
    return KIND.matcher(text)
        .results()
        .map(found -> found.group(1).replace(' ', '_').toUpperCase(Locale.ROOT))
        .map(RowKind::valueOf)
        .toList();
  }

  private static String firstSentence(String text) {
    return text.replaceAll("[\\s*]+", " ").split("\\. ", 2)[0];
  }

  private static List<Path> packages() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
      return files.filter(file -> file.endsWith("package-info.java")).toList();
    }
  }

  /** Without what a document adds to a kind, and on one line. */
  private static String plain(Path document) throws IOException {
    return Files.readString(document).replaceAll("\\s+", " ").replaceAll(" (by id|sorted)\\b", "");
  }
}
