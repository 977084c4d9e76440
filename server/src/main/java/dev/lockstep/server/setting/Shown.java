package dev.lockstep.server.setting;

/** A user's text, made safe to repeat on one line. */
final class Shown {
  private static final int MAX_LENGTH = 100;

  private Shown() {}

  static String of(String written) {
    String line = written.replaceAll("\\p{Cntrl}", "?");
    return line.length() <= MAX_LENGTH ? line : line.substring(0, MAX_LENGTH) + "…";
  }
}
