package dev.lockstep.server.setting;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A file of lines {@code name = value}. Lines that begin with {@code #} or {@code !} are comments.
 * Space around names and values is ignored; nothing is escaped, so passwords and backslashes stand
 * as they are. UTF-8, with any kind of line end.
 *
 * @param lines the values by name, in file order
 * @param problems what could not be read
 */
record ConfigFile(String shown, Map<String, Line> lines, List<String> problems, boolean open) {
  private static final int MAX_BYTES = 1024 * 1024;
  private static final String BYTE_ORDER_MARK = "\uFEFF";

  /** A value and its line. */
  record Line(int number, String value) {}

  ConfigFile {
    lines = Map.copyOf(lines);
    problems = List.copyOf(problems);
  }

  /** Reads the file; errors end up in its problems. */
  static ConfigFile read(String source, String path) {
    try {
      Path file = Path.of(path);
      if (Files.isDirectory(file)) {
        return unreadable(source, path, "it is a folder");
      }
      byte[] bytes;
      try (InputStream in = Files.newInputStream(file)) {
        bytes = in.readNBytes(MAX_BYTES + 1);
      }
      if (bytes.length > MAX_BYTES) {
        return unreadable(source, path, "it has more than 1 MiB");
      }
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      return parse(String.valueOf(file.getFileName()), text, openToOthers(file));
    } catch (CharacterCodingException e) {
      return unreadable(source, path, "it is not UTF-8");
    } catch (java.nio.file.NoSuchFileException e) {
      return unreadable(source, path, "there is no such file");
    } catch (java.nio.file.AccessDeniedException e) {
      return unreadable(source, path, "this user may not read it");
    } catch (InvalidPathException e) {
      return unreadable(source, path, "that is no file name");
    } catch (IOException e) {
      return unreadable(source, path, e.getClass().getSimpleName());
    }
  }

  private static ConfigFile unreadable(String source, String path, String why) {
    String problem = "%s: cannot read '%s', %s".formatted(source, Shown.of(path), why);
    return new ConfigFile(path, Map.of(), List.of(problem), false);
  }

  static ConfigFile parse(String shown, String text, boolean open) {
    Map<String, Line> lines = new LinkedHashMap<>();
    List<String> problems = new ArrayList<>();
    String rest = text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
    int number = 0;
    for (String raw : rest.split("\r\n|\n|\r", -1)) {
      number++;
      String line = raw.strip();
      if (line.isEmpty() || line.startsWith("#") || line.startsWith("!")) {
        continue;
      }
      int equals = line.indexOf('=');
      if (equals < 1) {
        // Not repeated: it may be the rest of a broken secret.
        problems.add("%s line %d is not 'name = value'".formatted(shown, number));
        continue;
      }
      String name = line.substring(0, equals).strip();
      Line before = lines.get(name);
      if (before != null) {
        problems.add(
            "'%s' is set twice in %s, in lines %d and %d"
                .formatted(Shown.of(name), shown, before.number(), number));
        continue;
      }
      lines.put(name, new Line(number, line.substring(equals + 1).strip()));
    }
    return new ConfigFile(shown, lines, problems, open);
  }

  String place(Line line) {
    return shown + " line " + line.number();
  }

  /** False on file systems without such permissions. */
  private static boolean openToOthers(Path file) throws IOException {
    return file.getFileSystem().supportedFileAttributeViews().contains("posix")
        && Files.getPosixFilePermissions(file).contains(PosixFilePermission.OTHERS_READ);
  }
}
