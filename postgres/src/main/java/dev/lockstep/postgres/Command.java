package dev.lockstep.postgres;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs one of PostgreSQL's programs to its end, within a time limit. Immutable. */
final class Command {

  private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(10);

  /** A program's output and exit code. */
  record Result(int exitCode, String output) {
    boolean succeeded() {
      return exitCode == 0;
    }
  }

  private final List<String> prefix;

  private Command(List<String> prefix) {
    this.prefix = prefix;
  }

  /**
   * Returns a way to run programs that PostgreSQL accepts. PostgreSQL refuses to run as root. In
   * its own user namespace the process has no privileged user while its files stay root's, so no
   * second account and no change of ownership is needed.
   */
  static Command forThisUser() {
    if (userId() != 0) {
      return new Command(List.of());
    }
    Command unshared = new Command(List.of("unshare", "-U"));
    Result probe = runOrExplain(unshared, List.of("id", "-u"));
    if (!probe.succeeded() || probe.output().equals("0")) {
      throw new PostgresException(
          "PostgreSQL does not run as root and this system does not allow user namespaces (unshare -U)."
              + " Run Lockstep as an ordinary user.");
    }
    return unshared;
  }

  /** The id of the user that runs this process. */
  static int userId() {
    Result id = runPlain(List.of("id", "-u"), PROBE_TIMEOUT);
    if (!id.succeeded()) {
      throw new PostgresException("Cannot determine the current user (id -u): " + id.output());
    }
    return Integer.parseUnsignedInt(id.output());
  }

  /** Like {@link #run}, without the prefix: for programs that may run as root. */
  static Result runPlain(List<String> command, Duration timeout) {
    return new Command(List.of()).run(command, timeout);
  }

  /**
   * Runs a program and waits for its end.
   *
   * @throws PostgresException if it cannot be run, or does not end in time; it is then killed
   */
  Result run(List<String> command, Duration timeout) {
    try {
      return execute(command, timeout);
    } catch (IOException e) {
      throw new PostgresException("Cannot run " + command.get(0) + ": " + e.getMessage(), e);
    }
  }

  private Result execute(List<String> command, Duration timeout) throws IOException {
    List<String> all = new ArrayList<>(prefix);
    all.addAll(command);
    ProcessBuilder builder = new ProcessBuilder(all).redirectErrorStream(true);
    // The user's PGDATA, PGPORT and so on concern another server. LC_ALL keeps messages English,
    // because we read them.
    builder.environment().keySet().removeIf(name -> name.startsWith("PG"));
    builder.environment().put("LC_ALL", "C");
    Process process = builder.start();
    try {
      process.getOutputStream().close();
      if (!ends(process, timeout)) {
        throw new PostgresException(
            command.get(0) + " did not end within " + timeout.toSeconds() + " s.");
      }
      return new Result(process.exitValue(), availableOutput(process));
    } finally {
      process.destroyForcibly();
    }
  }

  /**
   * Waits even if the thread is interrupted: giving up midway would leave a running server without
   * an owner, and the wait is bounded.
   */
  private static boolean ends(Process process, Duration timeout) {
    long deadline = System.nanoTime() + timeout.toNanos();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return process.waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Reads what is available without waiting for the end of the stream, which a leftover daemon
   * could hold open.
   */
  private static String availableOutput(Process process) throws IOException {
    InputStream output = process.getInputStream();
    return new String(output.readNBytes(output.available()), StandardCharsets.UTF_8).strip();
  }

  private static Result runOrExplain(Command how, List<String> command) {
    try {
      return how.execute(command, PROBE_TIMEOUT);
    } catch (IOException e) {
      return new Result(-1, String.valueOf(e.getMessage()));
    }
  }
}
