package dev.lockstep.prove;

import dev.lockstep.prove.fault.Fault;
import dev.lockstep.prove.work.Workloads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;

/** The command. Exit codes: 0 no promise broke; 1 one did, or it could not run; 2 wrong use. */
@Command(
    name = "lockstep prove",
    description = "Breaks a real cluster in every way it knows and checks every answer.",
    mixinStandardHelpOptions = true)
public final class Prove implements Callable<Integer> {
  /** Referenced, because java.util.logging forgets the level of unreferenced loggers. */
  private static final Logger DRIVER_LOG = Logger.getLogger("org.postgresql");

  private static final Duration ROUND = Duration.ofSeconds(60);

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Decides workload and faults; by default a random one, which is printed.")
  private long seed = new Random().nextInt(1_000_000);

  @Option(
      names = "--minutes",
      paramLabel = "N",
      defaultValue = "10",
      description = "How long things break (default ${DEFAULT-VALUE}).")
  private double minutes;

  @Option(
      names = "--workload",
      paramLabel = "NAME",
      split = ",",
      description =
          "One or several of holds, once, jobs, outbox, ledger, tx, sales, purchases; else"
              + " all.")
  private List<String> workloads = new ArrayList<>(Workloads.NAMES);

  @Option(
      names = "--faults",
      paramLabel = "NAME",
      split = ",",
      description =
          "One or several, such as kill,cut-after-commit; none: nothing breaks; else all.")
  private List<String> faults = new ArrayList<>();

  @Option(
      names = "--nodes",
      paramLabel = "N",
      defaultValue = "3",
      description = "Processes that use the library (default ${DEFAULT-VALUE}).")
  private int nodes;

  @Option(
      names = "--clients",
      paramLabel = "N",
      defaultValue = "12",
      description = "Clients of each workload (default ${DEFAULT-VALUE}).")
  private int clients;

  @Option(
      names = "--round",
      paramLabel = "N",
      defaultValue = "0",
      description = "Begin with this round, to play a failure again.")
  private int round;

  @Option(names = "--json", description = "Print one JSON object instead of tables.")
  private boolean json;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Where the timeline of a failure goes (default: the current folder).")
  private Path out = Path.of("");

  @Option(
      names = "--document",
      paramLabel = "FILE",
      description = "Also write the results as a page, such as docs/proof.md.")
  private String document = "";

  public static void main(String[] args) {
    DRIVER_LOG.setLevel(Level.OFF);
    System.exit(
        new CommandLine(new Prove())
            .setExecutionExceptionHandler(
                (e, command, parsed) -> {
                  System.err.println("lockstep: the campaign could not be run: " + e);
                  e.printStackTrace(System.err);
                  return ExitCode.SOFTWARE;
                })
            .execute(args));
  }

  /** Returns 2 if the options are invalid. */
  @Override
  public Integer call() throws Exception {
    CampaignConfig config;
    try {
      config = config();
    } catch (IllegalArgumentException e) {
      System.err.println("lockstep: " + e.getMessage());
      return ExitCode.USAGE;
    }
    Path folder = Files.createTempDirectory("lockstep-prove");
    ProgressLine progress = new ProgressLine(config);
    progress.say("Starting PostgreSQL and %d nodes, seed %d".formatted(nodes, seed));
    Campaign.Result result;
    try (Campaign campaign = new Campaign(folder, config)) {
      result = campaign.run(config, progress);
    } finally {
      progress.done();
      Folders.delete(folder);
    }
    Report report = new Report(config, result);
    System.out.print(json ? report.json() : report.text());
    if (!document.isEmpty()) {
      Files.writeString(Path.of(document), report.markdown());
    }
    if (result.passed()) {
      return ExitCode.OK;
    }
    tell(result, report);
    return ExitCode.SOFTWARE;
  }

  private void tell(Campaign.Result result, Report report) throws IOException {
    Path page = out.resolve("prove-%d-round-%d.html".formatted(result.seed(), result.round()));
    Files.writeString(page, report.timeline());
    Path edn = out.resolve("prove-%d-round-%d.edn".formatted(result.seed(), result.round()));
    String lists = report.edn();
    if (!lists.isEmpty()) {
      Files.writeString(edn, lists);
    }
    System.err.printf(
        Locale.ROOT,
        "lockstep: a promise broke; seed %d, round %d. Timeline: %s%nPlay it again: %s%n",
        result.seed(),
        result.round(),
        page.toAbsolutePath(),
        again(result));
  }

  /** The command that plays this round again: whatever decides a round is named. */
  private String again(Campaign.Result result) {
    String which = faults.isEmpty() ? "" : " --faults " + String.join(",", faults);
    return "./lockstep prove --seed %d --round %d --workload %s%s --nodes %d --clients %d --minutes %s"
        .formatted(
            result.seed(),
            result.round(),
            String.join(",", workloads),
            which,
            nodes,
            clients,
            minutes);
  }

  private CampaignConfig config() {
    if (!(minutes > 0 && minutes <= 24 * 60)) {
      throw new IllegalArgumentException("--minutes must be more than 0 and at most 1440.");
    }
    List<Fault> some = new ArrayList<>();
    for (String fault : faults) {
      if (!fault.equals("none")) {
        try {
          some.add(Fault.of(fault));
        } catch (IllegalArgumentException e) {
          throw new IllegalArgumentException(
              "--faults: there is no "
                  + fault
                  + "; there are "
                  + Arrays.stream(Fault.values()).map(Fault::word).toList(),
              e);
        }
      }
    }
    Duration time = Duration.ofMillis((long) (minutes * 60_000));
    return CampaignConfig.of(seed, time)
        .with(workloads, faults.isEmpty() ? List.of(Fault.values()) : some)
        .withNodes(nodes)
        .withClients(clients)
        .withRounds(time.compareTo(ROUND) < 0 ? time : ROUND, round);
  }
}
