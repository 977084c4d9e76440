package dev.lockstep.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;

/** How a command ended, and what it printed. */
record Ended(int code, String out, String err) {
  /** A word of the command line, in this process. */
  static Ended word(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code =
        Main.commandLine()
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .execute(arguments);
    return new Ended(code, out.toString(), err.toString());
  }

  /**
   * A program, in a process of its own. Its output goes through files, so that neither stream can
   * fill up while the other is read.
   *
   * @param folder where the files are
   */
  static Ended program(ProcessBuilder program, Path folder)
      throws IOException, InterruptedException {
    Path out = Files.createTempFile(folder, "out", null);
    Path err = Files.createTempFile(folder, "err", null);
    int code = program.redirectOutput(out.toFile()).redirectError(err.toFile()).start().waitFor();
    return new Ended(code, Files.readString(out), Files.readString(err));
  }
}
