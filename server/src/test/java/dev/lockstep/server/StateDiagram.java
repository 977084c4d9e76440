package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The states of something and the moves between them, as {@code docs/concepts.md} draws them. Tests
 * drive the real thing and note the moves they see; the drawing made of those moves has to be the
 * one on the page.
 */
final class StateDiagram {
  /** Before it exists. */
  static final String NEW = "(new)";

  /** After its row was deleted. */
  static final String DELETED = "(deleted)";

  private static final String WRITE = "lockstep.docs.write";
  private static final String PAGE = "docs/concepts.md";

  private final String subject;
  private final List<String> states;
  // What moves it, by the state it leaves and then by the state it reaches.
  private final Map<String, Map<String, Set<String>>> moves = new LinkedHashMap<>();

  /**
   * @param subject as the page names it above the drawing
   * @param states every state the code knows, in order
   */
  StateDiagram(String subject, List<String> states) {
    this.subject = subject;
    this.states = List.copyOf(states);
  }

  static StateDiagram of(String subject, Enum<?>[] states) {
    return new StateDiagram(subject, Arrays.stream(states).map(Enum::name).toList());
  }

  /** Notes a move that was seen. */
  void moved(String from, String by, String to) {
    assertThat(sources()).as("a state of a %s", subject).contains(from);
    assertThat(targets()).as("a state of a %s", subject).contains(to);
    moves
        .computeIfAbsent(from, unused -> new LinkedHashMap<>())
        .computeIfAbsent(to, unused -> new LinkedHashSet<>())
        .add(by);
  }

  /** Fails unless every state was reached and the page shows exactly the moves that were seen. */
  void checkPage() throws IOException {
    Set<String> reached = new LinkedHashSet<>();
    moves.values().forEach(to -> reached.addAll(to.keySet()));
    assertThat(reached).as("states of a %s that a test has reached", subject).containsAll(states);

    Path page = Repository.root().resolve(PAGE);
    String text = Files.readString(page);
    String opening = "<!-- states: " + subject + " -->\n```\n";
    assertThat(text).contains(opening);
    int begin = text.indexOf(opening) + opening.length();
    int end = text.indexOf("```", begin);
    if (Boolean.getBoolean(WRITE)) {
      Files.writeString(page, text.substring(0, begin) + drawing() + text.substring(end));
      return;
    }
    assertThat(text.substring(begin, end))
        .as(
            "The states of a %s in %s. This is how it moved just now:%n%n%s%nIf that is meant, run"
                + " this test with -D%s=true: it writes the page.",
            subject, PAGE, drawing(), WRITE)
        .isEqualTo(drawing());
  }

  private List<String> sources() {
    List<String> sources = new ArrayList<>(List.of(NEW));
    sources.addAll(states);
    return sources;
  }

  private List<String> targets() {
    List<String> targets = new ArrayList<>(states);
    targets.add(DELETED);
    return targets;
  }

  private String drawing() {
    int widest = sources().stream().mapToInt(String::length).max().orElseThrow();
    int longest =
        moves.values().stream()
            .flatMap(to -> to.values().stream())
            .mapToInt(by -> String.join(", ", by).length())
            .max()
            .orElseThrow();
    StringBuilder text = new StringBuilder();
    for (String from : sources()) {
      Map<String, Set<String>> to = moves.getOrDefault(from, Map.of());
      List<String> reached = targets().stream().filter(to::containsKey).toList();
      String head = from + " ".repeat(widest - from.length());
      if (reached.isEmpty()) {
        text.append(head).append(" ─── end\n");
      }
      for (int i = 0; i < reached.size(); i++) {
        String by = String.join(", ", to.getOrDefault(reached.get(i), Set.of()));
        text.append(i == 0 ? head + " ─" : " ".repeat(widest + 2))
            .append(corner(i, reached.size()))
            .append("─ ")
            .append(by)
            .append(" ")
            .append("─".repeat(longest - by.length() + 1))
            .append("► ")
            .append(reached.get(i))
            .append("\n");
      }
    }
    return text.toString();
  }

  private static String corner(int index, int count) {
    if (count == 1) {
      return "─";
    }
    if (index == 0) {
      return "┬";
    }
    return index == count - 1 ? "└" : "├";
  }
}
