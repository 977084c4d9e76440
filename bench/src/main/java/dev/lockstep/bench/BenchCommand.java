package dev.lockstep.bench;

import dev.lockstep.bench.Report.BooksDoNotBalance;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;

/**
 * Runs one benchmark on a database of its own and prints the report. Exit codes: 0 measured, aims
 * met or not; 1 a contender's books do not balance or the run failed; 2 wrong use.
 */
@Command(mixinStandardHelpOptions = true)
final class BenchCommand implements Callable<Integer> {
  private static final int MAX_SECONDS = 600;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      defaultValue = "5",
      description = "Measured seconds a contender, after a warm-up (default ${DEFAULT-VALUE}).")
  private int seconds;

  @Option(names = "--json", description = "Print one JSON object instead of a table.")
  private boolean json;

  @Option(
      names = "--database-url",
      paramLabel = "URL",
      description =
          "An empty PostgreSQL database to run on, with user and password in the URL;"
              + " by default an embedded one is started.")
  private String databaseUrl = "";

  private final String name;
  private final Benchmark.Opening opening;

  BenchCommand(String name, Benchmark.Opening opening) {
    this.name = name;
    this.opening = opening;
  }

  @Override
  public Integer call() throws Exception {
    if (seconds < 1 || seconds > MAX_SECONDS) {
      System.err.println("lockstep: --seconds must be 1 to " + MAX_SECONDS + ".");
      return ExitCode.USAGE;
    }
    Progress.say("Starting PostgreSQL");
    try (BenchDatabase database = BenchDatabase.open(databaseUrl)) {
      Report report = new Report(name, database);
      try (Benchmark benchmark = opening.open(new BenchRun(database, seconds, report))) {
        benchmark.measure();
        benchmark.aims();
      }
      Progress.done();
      report.print(System.out, json);
      return ExitCode.OK;
    } catch (BooksDoNotBalance e) {
      Progress.done();
      System.err.println("lockstep: " + e.getMessage());
      return ExitCode.SOFTWARE;
    }
  }
}
