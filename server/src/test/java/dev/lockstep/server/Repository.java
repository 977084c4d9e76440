package dev.lockstep.server;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where the sources are: Maven runs a module's tests in the module's folder, an IDE perhaps above
 * it.
 */
final class Repository {
  private Repository() {}

  static Path root() {
    for (Path folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
      if (Files.isRegularFile(folder.resolve("lockstep"))) {
        return folder;
      }
    }
    throw new IllegalStateException("these tests need the repository around them");
  }
}
