package dev.lockstep.bench;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The command line: one subcommand per benchmark. */
@Command(
    name = "lockstep bench",
    description = "Measures Lockstep, its peers and the ceiling in one run.",
    synopsisSubcommandLabel = "<benchmark>",
    mixinStandardHelpOptions = true)
public final class Bench implements Callable<Integer> {
  @SuppressWarnings("NullAway.Init") // picocli sets it before call()
  @Spec
  private CommandSpec spec;

  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  private static CommandLine commandLine() {
    CommandLine bench = new CommandLine(new Bench());
    add(bench, "tx", "Hot-row increments: one transaction each, and combined.", TxBench::open);
    add(bench, "hold", "Holds on scarce stock, against the documents' flows.", HoldBench::open);
    add(
        bench,
        "purchase",
        "Whole purchases over HTTP, from a load in a process of its own.",
        PurchaseBench::new);
    add(
        bench,
        "job",
        "Jobs that do nothing, against other schedulers on the same database.",
        JobBench::new);
    add(
        bench,
        "ledger",
        "Transfers between hot accounts and between many, against hand-written SQL.",
        LedgerBench::new);
    add(
        bench,
        "outbox",
        "Events in order, to nobody and to Kafka, against transaction-outbox.",
        OutboxBench::new);
    return bench;
  }

  private static void add(
      CommandLine bench, String name, String meaning, Benchmark.Opening opening) {
    CommandLine command = new CommandLine(new BenchCommand(name, opening));
    command.getCommandSpec().usageMessage().description(meaning);
    bench.addSubcommand(name, command);
  }

  /** Without a benchmark's name, lists them. */
  @Override
  public Integer call() {
    spec.commandLine().usage(System.err);
    return CommandLine.ExitCode.USAGE;
  }
}
