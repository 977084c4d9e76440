package dev.lockstep.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Where the sources are: Maven runs a module's tests in the module's folder, an IDE perhaps above
 * it.
 */
public final class Repository {
  private Repository() {}

  public static Path root() {
    for (Path folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
      if (Files.isRegularFile(folder.resolve("lockstep"))) {
        return folder;
      }
    }
    throw new IllegalStateException("these tests need the repository around them");
  }

  /** Every Markdown file at the top and under docs. */
  public static List<Path> documents() throws IOException {
    try (Stream<Path> top = Files.list(root());
        Stream<Path> below = Files.walk(root().resolve("docs"))) {
      return Stream.concat(top, below).filter(p -> p.toString().endsWith(".md")).sorted().toList();
    }
  }

  /** The folders {@code src} of all modules. */
  public static List<Path> sources() throws IOException {
    try (Stream<Path> modules = Files.list(root())) {
      return modules.map(module -> module.resolve("src")).filter(Files::isDirectory).toList();
    }
  }

  public static String name(Path file) {
    return root().relativize(file).toString();
  }
}
