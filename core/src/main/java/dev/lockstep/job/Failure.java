package dev.lockstep.job;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/** What is kept of something that was thrown. */
final class Failure {
  private static final Logger log = LoggerFactory.getLogger(Failure.class);

  private Failure() {}

  /** As it describes itself; its type, where it fails at that. Never throws or gives null. */
  static String describe(Throwable thrown) {
    try {
      String text = thrown.toString();
      return text == null ? thrown.getClass().getName() : text;
    } catch (Throwable worse) {
      return thrown.getClass().getName();
    }
  }

  /** With its stack, where that can be had of it. */
  static void log(LoggingEventBuilder entry, Throwable thrown, String message) {
    try {
      entry.setCause(thrown).log(message);
    } catch (Throwable worse) {
      log.warn("{}: {}", message, describe(thrown));
    }
  }

  /** The same in letters that every encoding of a database has. */
  static String plain(Throwable thrown) {
    return describe(thrown).replaceAll("[^ -~]", "?");
  }
}
