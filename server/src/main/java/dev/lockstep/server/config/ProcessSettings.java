package dev.lockstep.server.config;

import dev.lockstep.server.setting.Kind;
import dev.lockstep.server.setting.SettingReader;

/**
 * Settings of the process itself.
 *
 * @param heapBytes Java's heap; {@code ./lockstep} reads it before Java starts, here it is only
 *     checked
 * @param log the format of log lines
 * @param logLevel the lowest level that is logged
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
            "The size of Java's heap; the embedded database has its own memory."),
        in.read(
            "log",
            Kind.choice("text", "json"),
            "text",
            "The format of log lines: text for people, or one JSON object each."),
        in.read(
            "log.level",
            Kind.choice("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "OFF"),
            "INFO",
            "The lowest level that is logged."));
  }

  /** Passes them to Logback's configuration, which is read once; call this before anything logs. */
  public void setUpLog() {
    System.setProperty("LOCKSTEP_LOG", log);
    System.setProperty("LOCKSTEP_LOG_LEVEL", logLevel);
  }
}
