package dev.lockstep.cli;

import java.io.PrintWriter;
import java.io.Writer;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shared by most commands: {@code --help}, and where they print. A mixin. */
final class Console {
  @SuppressWarnings("unused") // read by picocli
  @Option(names = "--help", usageHelp = true, description = "Print this text.")
  private boolean help;

  @SuppressWarnings("NullAway.Init") // picocli sets it before call()
  @Spec(Spec.Target.MIXEE)
  private CommandSpec word;

  /** Prints an answer that ends in a line break. */
  void print(String text) {
    PrintWriter out = word.commandLine().getOut();
    out.print(text);
    out.flush();
  }

  void printLine(String line) {
    print(line + System.lineSeparator());
  }

  /** Reports a failure in one line; returns the exit code. */
  int fail(String message) {
    PrintWriter err = word.commandLine().getErr();
    err.println("lockstep: " + message);
    err.flush();
    return ExitCode.SOFTWARE;
  }

  /** A progress bar at a terminal; nothing elsewhere. */
  ProgressBar bar(int all) {
    // Set by the script if standard error is a terminal, which Java cannot detect.
    boolean terminal = "yes".equals(System.getenv("LOCKSTEP_TERMINAL"));
    return new ProgressBar(
        terminal ? word.commandLine().getErr() : new PrintWriter(Writer.nullWriter()), all);
  }
}
