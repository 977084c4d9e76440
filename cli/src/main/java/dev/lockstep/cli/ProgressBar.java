package dev.lockstep.cli;

import java.io.PrintWriter;

/** A progress bar on one line of a terminal. Thread-safe. */
final class ProgressBar {
  private static final int WIDTH = 40;
  private static final String BEGIN_LINE_ANEW = "\r\033[K";

  private final PrintWriter terminal;
  private final int all;
  private int filled = -1;

  ProgressBar(PrintWriter terminal, int all) {
    this.terminal = terminal;
    this.all = all;
  }

  /** Redraws only if the bar has grown: there may be many callers. */
  synchronized void advance(int done) {
    if (filled(done) > filled) {
      draw(done, done + " of " + all);
    }
  }

  /** Draws the number done and a text. */
  synchronized void draw(int done, String text) {
    filled = filled(done);
    terminal.print(
        BEGIN_LINE_ANEW + "[" + "#".repeat(filled) + ".".repeat(WIDTH - filled) + "] " + text);
    terminal.flush();
  }

  synchronized void erase() {
    terminal.print(BEGIN_LINE_ANEW);
    terminal.flush();
  }

  private int filled(int done) {
    return (int) ((long) done * WIDTH / all);
  }
}
