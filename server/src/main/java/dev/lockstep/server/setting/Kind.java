package dev.lockstep.server.setting;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * The values that a setting accepts, and their syntax.
 *
 * @param allowed the accepted values, to follow "must be"
 * @param examples accepted values; for a range, its two ends
 * @param parse reads a value; throws {@link IllegalArgumentException} for an invalid one, without a
 *     message or with one that follows the setting's name ("must start with …") and does not repeat
 *     the value
 * @param write the inverse of parse
 */
public record Kind<T>(
    String allowed, List<T> examples, Function<String, T> parse, Function<T, String> write) {
  private static final int DAY_SECONDS = 24 * 60 * 60;

  public Kind {
    examples = List.copyOf(examples);
  }

  /** A whole number; both ends are allowed. */
  public static Kind<Integer> number(int from, int to) {
    return new Kind<>(
        "a whole number from %d to %d".formatted(from, to),
        List.of(from, to),
        text -> within(Integer.parseInt(digits(text)), from, to),
        String::valueOf);
  }

  /** A time such as 250ms, 3s, 15m, 24h or 7d; both ends are allowed. */
  public static Kind<Duration> duration(Duration from, Duration to) {
    return new Kind<>(
        "a time from %s to %s, such as 250ms, 3s, 15m, 24h or 7d"
            .formatted(Units.text(from), Units.text(to)),
        List.of(from, to),
        text -> within(Units.duration(text), from, to),
        Units::text);
  }

  /** Whole days, written as 7d; both ends are allowed. */
  public static Kind<Duration> days(int from, int to) {
    return new Kind<>(
        "whole days from %dd to %dd".formatted(from, to),
        List.of(Duration.ofDays(from), Duration.ofDays(to)),
        text -> {
          Duration time = within(Units.duration(text), Duration.ofDays(from), Duration.ofDays(to));
          if (time.toSeconds() % DAY_SECONDS != 0) {
            throw new IllegalArgumentException();
          }
          return time;
        },
        time -> time.toDays() + "d");
  }

  /** A number of bytes such as 512, 64k, 1m or 2g; both ends are allowed. */
  public static Kind<Long> size(long from, long to) {
    return new Kind<>(
        "a size from %s to %s, such as 64k, 1m or 2g".formatted(Units.text(from), Units.text(to)),
        List.of(from, to),
        text -> within(Units.bytes(text), from, to),
        Units::text);
  }

  /** True or false. */
  public static Kind<Boolean> yesOrNo() {
    return new Kind<>(
        "true or false",
        List.of(true, false),
        text ->
            switch (text) {
              case "true" -> true;
              case "false" -> false;
              default -> throw new IllegalArgumentException();
            },
        String::valueOf);
  }

  /** One of these words, in any case; read as spelt here. */
  public static Kind<String> choice(String... words) {
    List<String> all = List.copyOf(Arrays.asList(words));
    return new Kind<>(
        "one of " + String.join(", ", all),
        all,
        text ->
            all.stream()
                .filter(word -> word.equalsIgnoreCase(text))
                .findFirst()
                .orElseThrow(IllegalArgumentException::new),
        word -> word);
  }

  /** Text that matches the pattern. */
  public static Kind<String> text(String pattern, String allowed, String example) {
    return new Kind<>(
        allowed,
        List.of(example),
        text -> {
          if (!text.matches(pattern)) {
            throw new IllegalArgumentException();
          }
          return text;
        },
        text -> text);
  }

  /** Anything that the function accepts. */
  public static <T> Kind<T> of(
      String allowed, String example, Function<String, T> parse, Function<T, String> write) {
    return new Kind<>(allowed, List.of(parse.apply(example)), parse, write);
  }

  private static String digits(String text) {
    // Java also accepts "+5" and digits of other scripts.
    if (!text.matches("-?[0-9]{1,18}")) {
      throw new IllegalArgumentException();
    }
    return text;
  }

  private static <C extends Comparable<C>> C within(C value, C from, C to) {
    if (value.compareTo(from) < 0 || value.compareTo(to) > 0) {
      throw new IllegalArgumentException();
    }
    return value;
  }

  /** Times and sizes in human units. */
  private static final class Units {
    private static final List<String> TIMES = List.of("d", "h", "m", "s", "ms");
    private static final List<Duration> LENGTHS =
        List.of(
            Duration.ofDays(1),
            Duration.ofHours(1),
            Duration.ofMinutes(1),
            Duration.ofSeconds(1),
            Duration.ofMillis(1));
    private static final List<String> SIZES = List.of("g", "m", "k");

    static Duration duration(String text) {
      if (!text.matches("[0-9]{1,12}(ms|s|m|h|d)")) {
        throw new IllegalArgumentException();
      }
      String unit = text.replaceAll("[0-9]", "");
      long count = Long.parseLong(text.substring(0, text.length() - unit.length()));
      return LENGTHS.get(TIMES.indexOf(unit)).multipliedBy(count);
    }

    /** In the largest unit without a fraction. */
    static String text(Duration time) {
      if (time.isZero()) {
        return "0ms";
      }
      for (int i = 0; i < TIMES.size(); i++) {
        if (time.toMillis() % LENGTHS.get(i).toMillis() == 0) {
          return time.toMillis() / LENGTHS.get(i).toMillis() + TIMES.get(i);
        }
      }
      throw new IllegalArgumentException("less than a millisecond: " + time);
    }

    static long bytes(String text) {
      String lower = text.toLowerCase(Locale.ROOT);
      if (!lower.matches("[0-9]{1,9}[gmk]?")) {
        throw new IllegalArgumentException();
      }
      String unit = lower.replaceAll("[0-9]", "");
      long count = Long.parseLong(lower.substring(0, lower.length() - unit.length()));
      return unit.isEmpty() ? count : count << shift(SIZES.indexOf(unit));
    }

    static String text(long bytes) {
      for (int i = 0; i < SIZES.size(); i++) {
        long unit = 1L << shift(i);
        if (bytes > 0 && bytes % unit == 0) {
          return bytes / unit + SIZES.get(i);
        }
      }
      return String.valueOf(bytes);
    }

    private static int shift(int unit) {
      return 10 * (SIZES.size() - unit);
    }
  }
}
