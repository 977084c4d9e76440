package dev.lockstep.server.database;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** The free space on the embedded database's disk. Thread-safe. */
public final class DiskSpace {
  private static final long GIB = 1024L * 1024 * 1024;

  /** The write-ahead log alone may need this much between two checkpoints. */
  private static final long LOW_BYTES = 4 * GIB;

  private final Path folder;

  public DiskSpace(Path folder) {
    this.folder = folder;
  }

  /** Free bytes; NaN if unknown. */
  public double freeBytes() {
    try {
      FileStore store = Files.getFileStore(folder);
      return store.getUsableSpace();
    } catch (IOException e) {
      return Double.NaN;
    }
  }

  /** A warning if little space is left. */
  public List<String> problems() {
    double free = freeBytes();
    return free < LOW_BYTES
        ? List.of(
            String.format(
                Locale.ROOT,
                "%.1f GiB free; free some before the database cannot write",
                free / GIB))
        : List.of();
  }
}
