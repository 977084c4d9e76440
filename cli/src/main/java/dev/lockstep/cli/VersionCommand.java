package dev.lockstep.cli;

import dev.lockstep.server.lifecycle.Version;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Prints the version. */
@Command(name = "version", description = "Print the version.")
final class VersionCommand implements Callable<Integer> {
  @SuppressWarnings("NullAway.Init") // picocli sets it before call()
  @Spec
  private CommandSpec spec;

  @Override
  public Integer call() {
    spec.commandLine().getOut().println("lockstep " + Version.CURRENT);
    return 0;
  }
}
