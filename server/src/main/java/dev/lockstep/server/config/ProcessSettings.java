package dev.lockstep.server.config;

import dev.lockstep.server.setting.Kind;
import dev.lockstep.server.setting.SettingReader;

/**
 * What the process itself is told.
 *
 * @param heapBytes Java's memory; {@code ./lockstep} reads it before Java starts, here it is
 *     checked
 * @param log how lines of the log look
 * @param logLevel which lines there are
 */
public record ProcessSettings(long heapBytes, String log, String logLevel) {
  private static final long MIN_HEAP = 256L << 20;
  private static final long DEFAULT_HEAP = 1L << 30;
  private static final long MAX_HEAP = 1024L << 30;

  static ProcessSettings read(SettingReader in) {
    in.group("Process");
    return new ProcessSettings(
        in.read(
            "heap",
            Kind.size(MIN_HEAP, MAX_HEAP),
            DEFAULT_HEAP,
            "How much memory Java may take for its objects; the embedded database takes its own."),
        in.read(
            "log",
            Kind.choice("text", "json"),
            "text",
            "How lines of the log look: text for people, or one JSON object each."),
        in.read(
            "log.level",
            Kind.choice("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "OFF"),
            "INFO",
            "Which lines the log has."));
  }

  /**
   * Tells Logback, whose configuration asks for these names. Before anything logs: it is read once.
   */
  public void setUpLog() {
    System.setProperty("LOCKSTEP_LOG", log);
    System.setProperty("LOCKSTEP_LOG_LEVEL", logLevel);
  }
}
