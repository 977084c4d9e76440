package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Repository;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/**
 * Every regular expression of the server and of what it stands on, with long texts: it neither
 * recurses once per character nor tries the same characters over and over. What it reads is
 * counted.
 */
@Timeout(120)
class RegularExpressionsTest {
  private static final List<String> MODULES =
      List.of("server", "gateway", "cli", "core", "postgres", "cron", "kafka", "lab");

  /** As long as headers may be; a body is matched only after its length was checked. */
  private static final int LENGTH = 8_000;

  private static final int MOST_READS_PER_CHARACTER = 40;

  private static final List<String> UNITS =
      List.of(
          "a",
          "A",
          "0",
          "1",
          " ",
          "\t",
          ".",
          "-",
          "_",
          ",",
          ";",
          ":",
          "/",
          "=",
          "\"",
          "\\",
          "\\a",
          "a.",
          "1.",
          "a-",
          "a_",
          "a=b;",
          "0x",
          "a@",
          "a, ",
          "a b",
          "[",
          "metadata['a']:'b'",
          "é");

  private static final List<String> BEGINNINGS =
      List.of("", "a=\"", ";a=\"", "; a=", "a <", "a@", "127.", "1.", "http://", "metadata['");

  private static final List<String> ENDINGS = List.of("", "\"", "!", "\n", "\u0000", ">");

  private static final Pattern INLINE =
      Pattern.compile(
          "\\.(matches|replaceAll|replaceFirst|split)\\(\\s*\"((?:[^\"\\\\]|\\\\.)*+)\"");

  /** Counts the characters that a matcher looks at. */
  private static final class Counted implements CharSequence {
    private final String text;
    private long reads;

    Counted(String text) {
      this.text = text;
    }

    @Override
    public int length() {
      return text.length();
    }

    @Override
    public char charAt(int index) {
      reads++;
      return text.charAt(index);
    }

    @Override
    public CharSequence subSequence(int start, int end) {
      return text.subSequence(start, end);
    }

    @Override
    public String toString() {
      return text;
    }
  }

  @TestFactory
  Stream<DynamicTest> aLongTextIsReadAFewTimesAtMost() {
    Map<String, Pattern> all = new TreeMap<>();
    MODULES.forEach(module -> files(module).forEach(file -> collect(module, file, all)));
    assertThat(all).hasSizeGreaterThan(60);
    return all.entrySet().stream()
        .map(one -> DynamicTest.dynamicTest(one.getKey(), () -> check(one.getValue())));
  }

  @Test
  void anExpressionThatBacktracksIsFound() {
    assertThat(mostReads(Pattern.compile("a*a*a*b"), "a".repeat(100)))
        .isGreaterThan(100 * MOST_READS_PER_CHARACTER);
  }

  private static void check(Pattern pattern) {
    for (String unit : UNITS) {
      String middle = unit.repeat(LENGTH / unit.length());
      for (String beginning : BEGINNINGS) {
        for (String ending : ENDINGS) {
          String text = beginning + middle + ending;
          assertThat(mostReads(pattern, text))
              .as("%s reads %s…%s…%s", pattern, beginning, unit, ending)
              .isLessThan((long) MOST_READS_PER_CHARACTER * text.length());
        }
      }
    }
  }

  private static long mostReads(Pattern pattern, String text) {
    Counted whole = new Counted(text);
    pattern.matcher(whole).matches();
    Counted begins = new Counted(text);
    pattern.matcher(begins).lookingAt();
    return Math.max(whole.reads, begins.reads);
  }

  private static void collect(String module, Path file, Map<String, Pattern> all) {
    String name = file.getFileName().toString().replace(".java", "");
    try {
      String source = Files.readString(file);
      Matcher inline = INLINE.matcher(source);
      while (inline.find()) {
        String expression = inline.group(2).translateEscapes();
        all.put(module + " " + name + " " + expression, Pattern.compile(expression));
      }
      if (source.contains("Pattern.compile(")) {
        for (Field field : fields(file)) {
          field.setAccessible(true);
          all.put(module + " " + name + "." + field.getName(), (Pattern) field.get(null));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("Can not look into " + file, e);
    }
  }

  /** Of the class and those inside it. A pattern made anywhere else is not seen here. */
  private static List<Field> fields(Path file) throws ReflectiveOperationException {
    String path = file.toString().replace('\\', '/');
    String name =
        path.substring(path.indexOf("dev/lockstep/"), path.length() - ".java".length())
            .replace('/', '.');
    List<Field> found = new ArrayList<>();
    Class<?> outer = Class.forName(name);
    List<Class<?>> classes = new ArrayList<>(List.of(outer.getDeclaredClasses()));
    classes.add(outer);
    for (Class<?> one : classes) {
      for (Field field : one.getDeclaredFields()) {
        if (field.getType() == Pattern.class && Modifier.isStatic(field.getModifiers())) {
          found.add(field);
        }
      }
    }
    assertThat(found).as("%s keeps its patterns in constants", name).isNotEmpty();
    return found;
  }

  private static List<Path> files(String module) {
    Path sources = Repository.root().resolve(module).resolve("src/main/java");
    try (Stream<Path> files = Files.walk(sources)) {
      return files.filter(file -> file.toString().endsWith(".java")).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
