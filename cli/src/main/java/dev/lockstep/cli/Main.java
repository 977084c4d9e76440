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

/** The command line. Exit codes: 0 success, 1 a check or start failed, 2 wrong use. */
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
  /** Referenced, because java.util.logging forgets the level of unreferenced loggers. */
  private static final Logger DRIVER_LOG = Logger.getLogger("org.postgresql");

  private Main() {}

  public static void main(String[] args) {
    // The driver logs what it throws; we report exceptions ourselves, in one line.
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

  /** The option or command that an unknown one probably meant. */
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
      // One line per problem, so that a user can fix all at once.
      String.valueOf(e.getMessage()).lines().forEach(line -> say(command.getErr(), line));
      return CommandLine.ExitCode.USAGE;
    }
    if (e instanceof CannotStart) {
      say(command.getErr(), String.valueOf(e.getMessage()));
      return CommandLine.ExitCode.SOFTWARE;
    }
    // Not the user's fault but ours: shown whole, so that it can be reported.
    throw e;
  }

  private static void say(PrintWriter err, String message) {
    err.println("lockstep: " + message);
    err.flush();
  }
}
