package dev.lockstep.bench;

import java.util.Locale;

/** Shows at a terminal what is being measured; silent otherwise. */
final class Progress {
  /** Set by the script if standard error is a terminal, which Java cannot detect. */
  private static final boolean TERMINAL = "yes".equals(System.getenv("LOCKSTEP_TERMINAL"));

  private Progress() {}

  static void say(String format, Object... arguments) {
    if (TERMINAL) {
      System.err.printf(Locale.ROOT, "\r\033[K%s …", String.format(Locale.ROOT, format, arguments));
      System.err.flush();
    }
  }

  static void done() {
    if (TERMINAL) {
      System.err.print("\r\033[K");
      System.err.flush();
    }
  }
}
