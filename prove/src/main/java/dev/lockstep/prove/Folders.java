package dev.lockstep.prove;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Folders that a campaign leaves behind. */
final class Folders {
  private static final Logger log = LoggerFactory.getLogger(Folders.class);

  private Folders() {}

  /** Deletes what is there; what cannot be deleted stays. */
  static void delete(Path folder) throws IOException {
    List<Path> all;
    try (Stream<Path> files = Files.walk(folder)) {
      all = files.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path file : all) {
      try {
        Files.deleteIfExists(file);
      } catch (IOException e) {
        log.debug("{} stays", file, e);
      }
    }
  }
}
