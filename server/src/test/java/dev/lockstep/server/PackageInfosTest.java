package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A newcomer can start from any package: its description says where to begin and what it owns. */
class PackageInfosTest {
  private static final Pattern BEGIN =
      Pattern.compile(
          "Start with|Entry type|Start reading|where to start|[Rr]ead \\{@\\w+ [\\w.]+\\} first");
  private static final Pattern TABLES =
      Pattern.compile("Tables? owned|Owns |table of Lockstep's|tables, states and locks are those");
  private static final Pattern LOCKS = Pattern.compile("[Ll]ock(?!step)");

  @Test
  void everyPackageHasADescription() throws IOException {
    Set<Path> described = descriptions().stream().map(Path::getParent).collect(Collectors.toSet());
    assertThat(sources().map(Path::getParent).distinct())
        .filteredOn(folder -> !folder.endsWith("java"))
        .isSubsetOf(described);
  }

  @Test
  void everyDescriptionSaysWhereToBeginWhichTablesItOwnsAndWhatItLocks() throws IOException {
    List<String> missing = new ArrayList<>();
    for (Path info : descriptions()) {
      String text = Files.readString(info).replaceAll("\\s*\\n \\*\\s*", " ");
      for (Pattern part : List.of(BEGIN, TABLES, LOCKS)) {
        if (!part.matcher(text).find()) {
          missing.add(Repository.name(info) + ": " + part);
        }
      }
    }
    assertThat(missing).isEmpty();
  }

  @Test
  void aDescriptionWithoutABeginningIsSeen() {
    assertThat(BEGIN.matcher("Owns no table. Reads {@code Parts} when it starts.").find())
        .isFalse();
    assertThat(LOCKS.matcher("The users of Lockstep are unlisted.").find()).isFalse();
  }

  private static List<Path> descriptions() throws IOException {
    return sources().filter(file -> file.endsWith("package-info.java")).toList();
  }

  private static Stream<Path> sources() throws IOException {
    List<Path> all = new ArrayList<>();
    try (Stream<Path> modules = Files.list(Repository.root())) {
      for (Path module : modules.map(one -> one.resolve("src/main/java")).toList()) {
        if (Files.isDirectory(module)) {
          try (Stream<Path> files = Files.walk(module)) {
            files.filter(file -> file.toString().endsWith(".java")).forEach(all::add);
          }
        }
      }
    }
    return all.stream();
  }
}
