package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Each table belongs to one package, which says so in its {@code package-info}, and no statement of
 * another package names it. Who needs the rows asks the owner.
 */
class TableOwnersTest {
  /**
   * Each with its schema and, where its tables are made, its migrations. Benchmarks own none, nor
   * does the prover, which locks and rewrites the tables of others as a fault.
   */
  private static final Map<String, String> MODULES =
      Map.of("core", "lockstep", "server", "lockstep_server", "gateway", "gateway");

  /** Packages that read tables of others. */
  private static final Map<String, Set<String>> EXCEPTIONS =
      Map.of(
          // Walks purchases by age, each with what is known of it, in one statement per page.
          "dev.lockstep.server.reconciliation",
          Set.of(
              "lockstep_server.campaign",
              "lockstep_server.draw",
              "lockstep_server.purchase",
              "lockstep_server.purchase_set_aside"),
          // A list of campaigns shows which are drawn: one statement per page.
          "dev.lockstep.server.campaign",
          Set.of("lockstep_server.draw"));

  private static final Pattern CREATED =
      Pattern.compile(
          "CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(\\w+\\.\\w+)(?:\\s+PARTITION OF (\\w+\\.\\w+))?");

  private static final Pattern OWNED =
      Pattern.compile("(?:Tables? owned:|Owns)(.*?)(?:\\.\\s|\\z)", Pattern.DOTALL);

  private static final Pattern CODE = Pattern.compile("\\{@code\\s+(?:\\w+\\.)?(\\w+)\\}");

  private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/", Pattern.DOTALL);

  private static final Pattern TEXT =
      Pattern.compile("\"\"\".*?\"\"\"|\"(?:[^\"\\\\\n]|\\\\.)*\"", Pattern.DOTALL);

  private static final Pattern NAME =
      Pattern.compile("\\b(?:lockstep|lockstep_server|gateway)\\.\\w+");

  @Test
  void everyTableHasOneOwner() throws IOException {
    Map<String, Set<String>> owners = owners();
    Map<String, Set<String>> wrong = new TreeMap<>();
    for (String table : tables()) {
      Set<String> of = owners.getOrDefault(table, Set.of());
      if (of.size() != 1) {
        wrong.put(table, of);
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void noStatementNamesATableOfAnotherPackage() throws IOException {
    Map<String, Set<String>> owners = owners();
    Set<String> tables = tables();
    Set<String> wrong = new TreeSet<>();
    for (Path file : sources()) {
      String type = packageOf(file);
      for (String table : named(Files.readString(file))) {
        if (tables.contains(table)
            && !owners.getOrDefault(table, Set.of()).contains(type)
            && !EXCEPTIONS.getOrDefault(type, Set.of()).contains(table)) {
          wrong.add(Repository.name(file) + ": " + table);
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void aTableInAStatementIsFoundAndOneInACommentIsNot() {
    assertThat(
            named(
                """
                /** Not {@code lockstep.unit}. */
                // Nor "lockstep.pool".
                String sql = \"""
                    SELECT 1 FROM lockstep.hold h
                    \""" + "JOIN lockstep_server.purchase p";
                """))
        .containsExactlyInAnyOrder("lockstep.hold", "lockstep_server.purchase");
  }

  /** By name, with its schema. A partition belongs to its table. */
  private static Set<String> tables() throws IOException {
    Set<String> tables = new TreeSet<>();
    for (String module : MODULES.keySet()) {
      for (Path script : files(module + "/src/main/resources/db", ".sql")) {
        Matcher created = CREATED.matcher(Files.readString(script));
        while (created.find()) {
          if (created.group(2) == null) {
            tables.add(created.group(1));
          }
        }
      }
    }
    assertThat(tables).contains("lockstep.hold", "lockstep_server.purchase", "gateway.intent");
    return tables;
  }

  /** The packages that claim each table. The gateway has a schema of its own. */
  private static Map<String, Set<String>> owners() throws IOException {
    Map<String, Set<String>> owners = new HashMap<>();
    for (Map.Entry<String, String> module : MODULES.entrySet()) {
      for (Path file : files(module.getKey() + "/src/main/java", "package-info.java")) {
        String text = Files.readString(file).replaceAll("(?m)^ \\*", "");
        Matcher owned = OWNED.matcher(text);
        while (owned.find()) {
          Matcher code = CODE.matcher(owned.group(1));
          while (code.find()) {
            owners
                .computeIfAbsent(module.getValue() + "." + code.group(1), table -> new HashSet<>())
                .add(packageOf(file));
          }
        }
      }
    }
    for (String table : tables()) {
      if (table.startsWith("gateway.")) {
        owners.put(table, Set.of("dev.lockstep.gateway"));
      }
    }
    return owners;
  }

  private static Set<String> named(String source) {
    String withoutComments =
        COMMENT.matcher(source).replaceAll("").replaceAll("(?m)(?<![:\"])//.*$", "");
    return TEXT.matcher(withoutComments)
        .results()
        .flatMap(text -> NAME.matcher(text.group()).results())
        .map(MatchResult::group)
        .collect(Collectors.toSet());
  }

  private static List<Path> sources() throws IOException {
    try (Stream<Path> modules = Files.list(Repository.root())) {
      return modules
          .filter(module -> !module.endsWith("bench") && !module.endsWith("prove"))
          .map(module -> module.resolve("src/main/java"))
          .filter(Files::isDirectory)
          .flatMap(folder -> walk(folder, ".java").stream())
          // It stands in no package.
          .filter(file -> !file.endsWith("module-info.java"))
          .toList();
    }
  }

  private static List<Path> files(String folder, String end) {
    return walk(Repository.root().resolve(folder), end);
  }

  private static List<Path> walk(Path folder, String end) {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(end)).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String packageOf(Path file) {
    String name = Repository.name(file);
    return name.substring(name.indexOf("/java/") + "/java/".length(), name.lastIndexOf('/'))
        .replace('/', '.');
  }
}
