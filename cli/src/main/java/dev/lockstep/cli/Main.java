package dev.lockstep.cli;

import dev.lockstep.server.lifecycle.CannotStart;
import dev.lockstep.server.lifecycle.WrongUse;
import dev.lockstep.server.setting.NearestName;
import dev.lockstep.server.setting.WrongSettings;
import java.io.PrintWriter;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command line. Exit codes: 0 fine, 1 a check or a start failed, 2 wrong use. */
@Command(
    name = "lockstep",
    synopsisSubcommandLabel = "up | settings | rush | lab | birthdays | verify-draw | version",
    subcommands = {
      UpCommand.class,
      SettingsCommand.class,
      RushCommand.class,
      LabCommand.class,
      BirthdaysCommand.class,
      VerifyDrawCommand.class,
      VersionCommand.class
    })
public final class Main {
  /** Held, because java.util.logging forgets the level of a logger that nobody refers to. */
  private static final Logger DRIVER_LOG = Logger.getLogger("org.postgresql");

  private Main() {}

  public static void main(String[] args) {
    // The driver logs what it also throws; we answer what it throws, in one line.
    DRIVER_LOG.setLevel(Level.OFF);
    int exitCode = commandLine().execute(args);
    System.exit(exitCode);
  }

  static CommandLine commandLine() {
    return new CommandLine(new Main())
        .setParameterExceptionHandler((e, args) -> wrongUse(e))
        .setExecutionExceptionHandler((e, command, parsed) -> failed(e, command));
  }

  private static int wrongUse(ParameterException e) {
    CommandLine command = e.getCommandLine();
    String next =
        nearest(e).map(name -> "; did you mean '" + name + "'?").orElse("; see ./lockstep help");
    say(command.getErr(), e.getMessage() + next);
    return CommandLine.ExitCode.USAGE;
  }

  /** The option or word that an unknown one was probably meant to be. */
  private static Optional<String> nearest(ParameterException e) {
    if (!(e instanceof UnmatchedArgumentException unmatched)
        || unmatched.getUnmatched().isEmpty()) {
      return Optional.empty();
    }
    Set<String> known = new HashSet<>(e.getCommandLine().getCommandSpec().optionsMap().keySet());
    known.addAll(e.getCommandLine().getSubcommands().keySet());
    return NearestName.of(unmatched.getUnmatched().get(0), known);
  }

  private static int failed(Exception e, CommandLine command) throws Exception {
    if (e instanceof WrongUse) {
      say(command.getErr(), e.getMessage() + "; see ./lockstep help");
      return CommandLine.ExitCode.USAGE;
    }
    if (e instanceof WrongSettings) {
      // One line for each, so that a user corrects all of them at once.
      String.valueOf(e.getMessage()).lines().forEach(line -> say(command.getErr(), line));
      return CommandLine.ExitCode.USAGE;
    }
    if (e instanceof CannotStart) {
      say(command.getErr(), String.valueOf(e.getMessage()));
      return CommandLine.ExitCode.SOFTWARE;
    }
    // Nothing a user did: a fault of ours, shown whole so that it can be reported.
    throw e;
  }

  private static void say(PrintWriter err, String message) {
    err.println("lockstep: " + message);
    err.flush();
  }
}
