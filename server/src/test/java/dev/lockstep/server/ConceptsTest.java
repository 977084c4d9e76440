package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.hold.HoldState;
import dev.lockstep.job.JobState;
import dev.lockstep.ledger.TransferState;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The glossary names what exists. The last column of its tables has Java types ({@code Hold},
 * {@code JobState}), tables and columns ({@code lockstep.hold.state}), routes ({@code
 * /v1/holds/{id}}) and JSON fields ({@code "expiresAt"}).
 */
class ConceptsTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| \\*\\*(.+?)\\*\\* \\| (.+) \\| (.+) \\|$");
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final Pattern DECLARED =
      Pattern.compile("\\b(?:class|record|enum|interface) ([A-Z]\\w*)");
  private static final Pattern ANCHOR = Pattern.compile("\\]\\(#([^)]+)\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.+)$");

  private record Term(String name, String meaning, List<String> where) {}

  @Test
  void everyWordHasOneEntryOfAtMostThreeSentences() throws IOException {
    List<Term> terms = terms();
    assertThat(terms).hasSizeGreaterThan(100);
    assertThat(terms).extracting(Term::name).doesNotHaveDuplicates();
    assertThat(terms)
        .allSatisfy(
            term ->
                assertThat(term.meaning().split("[.!?](?= |$)", -1).length - 1)
                    .as(term.name())
                    .isBetween(1, 3));
  }

  @Test
  void everythingThatAnEntryNamesExists() throws Exception {
    Set<String> types = types();
    Set<String> columns = columns();
    JsonObject api = server.anyone().get("/openapi.json").expect(200);
    Set<String> routes = api.getJsonObject("paths").fieldNames();
    Set<String> fields = new HashSet<>();
    addProperties(api, fields);

    List<String> unknown = new ArrayList<>();
    for (Term term : terms()) {
      for (String name : term.where()) {
        boolean known;
        if (name.startsWith("\"")) {
          known = fields.contains(name.substring(1, name.length() - 1));
        } else if (name.startsWith("/")) {
          known = routes.contains(name);
        } else if (name.startsWith("lockstep")) {
          known = columns.contains(name);
        } else {
          known = types.contains(name);
        }
        if (!known) {
          unknown.add(name + " of " + term.name());
        }
      }
    }
    assertThat(unknown).isEmpty();
  }

  /** The page says that the API has the same words in lower case. */
  @Test
  void theApiKnowsEveryStateOfTheCode() throws Exception {
    JsonObject api = server.anyone().get("/openapi.json").expect(200);
    Set<List<String>> choices = new HashSet<>();
    addChoices(api, choices);
    assertThat(choices)
        .contains(
            lowerCase(HoldState.values()),
            lowerCase(JobState.values()),
            lowerCase(TransferState.values()),
            List.of("parked", "waiting"));
  }

  private static List<String> lowerCase(Enum<?>[] states) {
    return Arrays.stream(states)
        .map(state -> state.name().toLowerCase(Locale.ROOT))
        .sorted()
        .toList();
  }

  @Test
  void everyLinkWithinThePageLeadsToAHeading() throws IOException {
    List<String> anchors =
        matches(HEADING, page()).stream()
            .map(heading -> heading.toLowerCase(Locale.ROOT).replace(' ', '-'))
            .toList();
    assertThat(matches(ANCHOR, page())).isNotEmpty().allMatch(anchors::contains);
  }

  private static String page() throws IOException {
    return Files.readString(Repository.root().resolve("docs/concepts.md"));
  }

  private static List<Term> terms() throws IOException {
    List<Term> terms = new ArrayList<>();
    Matcher row = ROW.matcher(page());
    while (row.find()) {
      terms.add(new Term(row.group(1), row.group(2), matches(CODE, row.group(3))));
    }
    return terms;
  }

  /** Of the modules, by simple name; one inside another also behind the name of its file. */
  private static Set<String> types() throws IOException {
    Set<String> types = new HashSet<>();
    for (Path source : Repository.sources()) {
      Path main = source.resolve("main/java");
      if (Files.isDirectory(main)) {
        try (Stream<Path> files = Files.walk(main)) {
          for (Path file : files.filter(one -> one.toString().endsWith(".java")).toList()) {
            String outer = file.getFileName().toString().replace(".java", "");
            for (String type : matches(DECLARED, Files.readString(file))) {
              types.add(type.equals(outer) ? type : outer + "." + type);
            }
          }
        }
      }
    }
    return types;
  }

  /** Tables, and their columns behind their names. */
  private static Set<String> columns() {
    return Set.copyOf(
        server
            .database()
            .query(
                """
                SELECT table_schema || '.' || table_name FROM information_schema.tables
                UNION
                SELECT table_schema || '.' || table_name || '.' || column_name
                FROM information_schema.columns""",
                row -> row.getString(1)));
  }

  private static void addProperties(Object json, Set<String> fields) {
    if (json instanceof JsonArray array) {
      array.forEach(one -> addProperties(one, fields));
    } else if (json instanceof JsonObject object) {
      if (object.getValue("properties") instanceof JsonObject properties) {
        fields.addAll(properties.fieldNames());
      }
      object.forEach(entry -> addProperties(entry.getValue(), fields));
    }
  }

  private static void addChoices(Object json, Set<List<String>> choices) {
    if (json instanceof JsonArray array) {
      array.forEach(one -> addChoices(one, choices));
    } else if (json instanceof JsonObject object) {
      if (object.getValue("enum") instanceof JsonArray choice) {
        choices.add(choice.stream().map(String::valueOf).sorted().toList());
      }
      object.forEach(entry -> addChoices(entry.getValue(), choices));
    }
  }

  private static List<String> matches(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(result -> result.group(1)).toList();
  }
}
