package dev.lockstep.migration;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/** One file of {@code db/lockstep}, such as {@code V011__job.sql}. */
record Script(String file, String version, String description, String sql, int checksum) {
  private static final String FOLDER = "/db/lockstep/";

  /** Lists all scripts, because a class path cannot be listed. */
  private static final String NAMES = "scripts.txt";

  private static final Pattern NAME = Pattern.compile("V(\\d+)__(\\w+)\\.sql");

  /** All scripts, in the order in which they run. */
  static List<Script> all() {
    return read(NAMES).lines().map(Script::of).toList();
  }

  private static Script of(String file) {
    Matcher name = NAME.matcher(file);
    if (!name.matches()) {
      throw new IllegalStateException("Not the name of a migration: " + file);
    }
    String sql = read(file);
    return new Script(file, name.group(1), name.group(2).replace('_', ' '), sql, checksum(sql));
  }

  /** As Flyway computes it: over the lines, without their line endings. */
  private static int checksum(String sql) {
    CRC32 crc = new CRC32();
    sql.lines().forEach(line -> crc.update(line.getBytes(StandardCharsets.UTF_8)));
    return (int) crc.getValue();
  }

  int number() {
    return Integer.parseInt(version);
  }

  private static String read(String file) {
    try (InputStream in = Script.class.getResourceAsStream(FOLDER + file)) {
      if (in == null) {
        throw new IllegalStateException("Not on the class path: " + FOLDER + file);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
