package dev.lockstep.kafka;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A Kafka sink's settings: {@code topic}, or {@code topic?format=cloudevents}.
 *
 * @param topic up to 249 letters, digits, dots, hyphens and underscores
 */
public record KafkaTarget(String topic, Format format) {
  private static final Pattern TOPIC = Pattern.compile("[a-zA-Z0-9._-]{1,249}");
  private static final String OPTION = "?format=";

  /** How an event becomes a record. */
  public enum Format {
    /** Headers {@code lockstep-…} identify the event; the value is its content. */
    PLAIN,
    /** CloudEvents in binary mode: headers {@code ce_…}; the value is its content. */
    CLOUDEVENTS,
    /** CloudEvents in structured mode: the value is the whole event as JSON. */
    CLOUDEVENTS_STRUCTURED;

    /** The form used in settings. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public static Optional<Format> of(String text) {
      return Arrays.stream(values()).filter(one -> one.toString().equals(text)).findFirst();
    }
  }

  public KafkaTarget {
    if (!TOPIC.matcher(topic).matches() || topic.matches("\\.{1,2}")) {
      throw new IllegalArgumentException(
          "A topic must be 1 to 249 letters, digits, dots, hyphens and underscores");
    }
  }

  /**
   * Parses settings.
   *
   * @throws IllegalArgumentException if they are invalid
   */
  public static KafkaTarget parse(String settings) {
    int option = settings.indexOf(OPTION);
    if (option < 0) {
      return new KafkaTarget(settings, Format.PLAIN);
    }
    String format = settings.substring(option + OPTION.length());
    return new KafkaTarget(
        settings.substring(0, option),
        Format.of(format)
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "A format must be one of %s, not '%s'"
                            .formatted(Arrays.toString(Format.values()), format))));
  }

  /** The text that {@link #parse} reads. */
  public String settings() {
    return format == Format.PLAIN ? topic : topic + OPTION + format;
  }
}
