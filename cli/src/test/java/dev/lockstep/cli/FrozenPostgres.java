package dev.lockstep.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** An embedded PostgreSQL whose processes all stand still (SIGSTOP) until this is closed. */
final class FrozenPostgres implements AutoCloseable {
  private final List<ProcessHandle> processes;

  private FrozenPostgres(List<ProcessHandle> processes) {
    this.processes = processes;
  }

  /** Stops the one that makes others first, so that none is missed. */
  static FrozenPostgres of(Path data) throws IOException, InterruptedException {
    long pid =
        Long.parseLong(Files.readAllLines(ServerProcess.postmasterFile(data)).get(0).strip());
    ProcessHandle postmaster = ProcessHandle.of(pid).orElseThrow();
    signal("STOP", List.of(postmaster));
    List<ProcessHandle> children = postmaster.descendants().toList();
    signal("STOP", children);
    return new FrozenPostgres(Stream.concat(Stream.of(postmaster), children.stream()).toList());
  }

  int processes() {
    return processes.size();
  }

  /** Of one that has ended, and that nobody has taken note of yet, the program is not known. */
  long alive() {
    return processes.stream()
        .filter(process -> process.isAlive() && process.info().command().isPresent())
        .count();
  }

  @Override
  public void close() throws IOException {
    try {
      signal("CONT", processes.stream().filter(ProcessHandle::isAlive).toList());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Of those that are gone by now nothing is expected. */
  private static void signal(String signal, List<ProcessHandle> to)
      throws IOException, InterruptedException {
    for (ProcessHandle process : to) {
      // Through the shell, whose kill is built in: small systems have no such program.
      new ProcessBuilder("sh", "-c", "kill -" + signal + " " + process.pid()).start().waitFor();
    }
  }
}
