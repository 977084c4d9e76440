package dev.lockstep.job;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/** Describes and logs throwables safely, even ones whose own methods throw. */
final class FailureText {
  private static final Logger log = LoggerFactory.getLogger(FailureText.class);

  private FailureText() {}

  /**
   * The throwable's own description, or its type if that fails. Never throws, never returns null.
   */
  static String describe(Throwable thrown) {
    try {
      String text = thrown.toString();
      return text == null ? thrown.getClass().getName() : text;
    } catch (Throwable worse) {
      return thrown.getClass().getName();
    }
  }

  /** Logs with the stack trace if the throwable allows it. */
  static void log(LoggingEventBuilder entry, Throwable thrown, String message) {
    try {
      entry.setCause(thrown).log(message);
    } catch (Throwable worse) {
      log.warn("{}: {}", message, describe(thrown));
    }
  }

  /** Like {@link #describe}, in printable ASCII, which every database encoding can store. */
  static String plain(Throwable thrown) {
    return describe(thrown).replaceAll("[^ -~]", "?");
  }
}
