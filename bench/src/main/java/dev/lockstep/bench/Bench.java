package dev.lockstep.bench;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command line: one subcommand a benchmark. */
@Command(
    name = "lockstep bench",
    description = "Measures Lockstep, its peers and the ceiling in one run.",
    subcommands = {
      Bench.Tx.class,
      Bench.Hold.class,
      Bench.Purchase.class,
      Bench.Job.class,
      Bench.Ledger.class,
      Bench.Outbox.class
    },
    synopsisSubcommandLabel = "<benchmark>",
    mixinStandardHelpOptions = true)
public final class Bench implements Callable<Integer> {

  public static void main(String[] args) {
    System.exit(new CommandLine(new Bench()).execute(args));
  }

  /** Without a benchmark's name: say which there are. */
  @Override
  public Integer call() {
    CommandLine.usage(this, System.err);
    return CommandLine.ExitCode.USAGE;
  }

  /** What every benchmark can be told. */
  static final class Settings {
    @Option(
        names = "--seconds",
        paramLabel = "N",
        defaultValue = "5",
        description = "Measured seconds a contender, after a warm-up (default ${DEFAULT-VALUE}).")
    int seconds = 5;

    @Option(names = "--json", description = "Print one JSON object instead of a table.")
    boolean json;

    @Option(
        names = "--database-url",
        paramLabel = "URL",
        description =
            "An empty PostgreSQL database to run on, with user and password in the URL;"
                + " by default an embedded one is started.")
    String databaseUrl = "";
  }

  @Command(
      name = "tx",
      mixinStandardHelpOptions = true,
      description = "Hot-row increments: one transaction each, and combined.")
  static final class Tx implements Callable<Integer> {
    @Mixin Settings settings = new Settings();

    @Override
    public Integer call() throws Exception {
      return Report.of("tx", settings, TxBench::run);
    }
  }

  @Command(
      name = "hold",
      mixinStandardHelpOptions = true,
      description = "Holds on scarce stock, against the documents' flows.")
  static final class Hold implements Callable<Integer> {
    @Mixin Settings settings = new Settings();

    @Override
    public Integer call() throws Exception {
      return Report.of("hold", settings, HoldBench::run);
    }
  }

  @Command(
      name = "purchase",
      mixinStandardHelpOptions = true,
      description = "Whole purchases over HTTP, from a load in a process of its own.")
  static final class Purchase implements Callable<Integer> {
    @Mixin Settings settings = new Settings();

    @Override
    public Integer call() throws Exception {
      return Report.of("purchase", settings, PurchaseBench::run);
    }
  }

  @Command(
      name = "job",
      mixinStandardHelpOptions = true,
      description = "Jobs that do nothing, against other schedulers on the same database.")
  static final class Job implements Callable<Integer> {
    @Mixin Settings settings = new Settings();

    @Override
    public Integer call() throws Exception {
      return Report.of("job", settings, JobBench::run);
    }
  }

  @Command(
      name = "ledger",
      mixinStandardHelpOptions = true,
      description = "Transfers between hot accounts and between many, against hand-written SQL.")
  static final class Ledger implements Callable<Integer> {
    @Mixin Settings settings = new Settings();

    @Override
    public Integer call() throws Exception {
      return Report.of("ledger", settings, LedgerBench::run);
    }
  }

  @Command(
      name = "outbox",
      mixinStandardHelpOptions = true,
      description = "Events in order, to nobody and to Kafka, against transaction-outbox.")
  static final class Outbox implements Callable<Integer> {
    @Mixin Settings settings = new Settings();

    @Override
    public Integer call() throws Exception {
      return Report.of("outbox", settings, OutboxBench::run);
    }
  }
}
