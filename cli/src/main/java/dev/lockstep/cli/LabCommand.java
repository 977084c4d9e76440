package dev.lockstep.cli;

import dev.lockstep.lab.Group;
import dev.lockstep.lab.Lab;
import dev.lockstep.lab.LabConfig;
import dev.lockstep.lab.LabUnavailable;
import dev.lockstep.lab.Level;
import dev.lockstep.lab.Matrix;
import dev.lockstep.lab.Scenario;
import dev.lockstep.lab.Timeline;
import dev.lockstep.lab.TimelineText;
import dev.lockstep.lab.Variant;
import dev.lockstep.server.database.DatabaseAddress;
import dev.lockstep.server.lab.LabJson;
import dev.lockstep.server.lifecycle.CannotStart;
import dev.lockstep.server.lifecycle.WrongUse;
import dev.lockstep.tx.Isolation;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The concurrency lab on the command line. It needs no server: a PostgreSQL is started for the
 * command, unless one is named. Exit codes: 0 played; 1 could not play, or Lockstep's own variant
 * showed the anomaly; 2 wrong use.
 */
@Command(
    name = "lab",
    description = "Play races of transactions on a real PostgreSQL, step by step.",
    subcommands = {
      LabCommand.ListCommand.class,
      LabCommand.RunCommand.class,
      LabCommand.MatrixCommand.class
    })
final class LabCommand implements Callable<Integer> {
  private static final int DEFAULT_COLUMNS = 110;
  private static final int MIN_COLUMNS = 60;
  private static final int MAX_COLUMNS = 200;

  @Override
  public Integer call() {
    throw new WrongUse("say what: lab list, lab run ID or lab matrix");
  }

  /** Shared by the lab's subcommands. */
  private abstract static class Word implements Callable<Integer> {
    @Option(names = "--json", description = "One JSON object instead of text.")
    boolean json;

    @Mixin final Console console = new Console();
  }

  /** Shared by the subcommands that play scenarios. */
  private abstract static class Playing extends Word {
    @Option(
        names = "--database-url",
        paramLabel = "URL",
        description =
            "Play on this PostgreSQL, in a database made for it and dropped afterwards; without it"
                + " one is started for the command.")
    private @Nullable String databaseUrl;

    final int play(Function<Lab, Integer> work) {
      try {
        if (databaseUrl != null) {
          DatabaseAddress.external("--database-url", databaseUrl);
          return on(new LabConfig(databaseUrl, Map.of()), work);
        }
        try (LabPostgres postgres = LabPostgres.start()) {
          return on(postgres.config(), work);
        }
      } catch (LabUnavailable e) {
        throw new CannotStart(String.valueOf(e.getMessage()), e);
      }
    }

    private static int on(LabConfig config, Function<Lab, Integer> work) {
      try (Lab lab = new Lab(config)) {
        return work.apply(lab);
      }
    }
  }

  /** Lists the catalogue. */
  @Command(name = "list", description = "List the scenarios.")
  static final class ListCommand extends Word {
    @Override
    public Integer call() {
      console.print(json ? LabJson.catalogue(true).encodePrettily() + "\n" : asText());
      return 0;
    }

    private static String asText() {
      StringBuilder text = new StringBuilder();
      Group group = null;
      for (Scenario scenario : Lab.scenarios()) {
        if (scenario.group() != group) {
          group = scenario.group();
          text.append(text.isEmpty() ? "" : "\n").append(group.title()).append('\n');
        }
        text.append("  %-20s %s%n".formatted(scenario.id(), scenario.title()));
      }
      return text.append("\nPlay one: ./lockstep lab run last-unit\n").toString();
    }
  }

  /** Plays one scenario. */
  @Command(name = "run", description = "Play a scenario and draw its timeline.")
  static final class RunCommand extends Playing {
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    @Parameters(index = "0", paramLabel = "ID", description = "A scenario from lab list.")
    private String id;

    @Option(
        names = "--isolation",
        paramLabel = "LEVEL",
        defaultValue = "read-committed",
        description = "read-committed, repeatable-read or serializable. ${DEFAULT-VALUE}")
    private String isolation = "";

    @Option(
        names = "--variant",
        paramLabel = "VARIANT",
        defaultValue = "naive",
        description = "naive or lockstep. ${DEFAULT-VALUE}")
    private String variant = "";

    @Override
    public Integer call() {
      Scenario scenario =
          Lab.scenario(id)
              .orElseThrow(
                  () -> new WrongUse("there is no scenario '" + id + "'; see ./lockstep lab list"));
      Isolation level =
          Level.of(isolation)
              .orElseThrow(
                  () ->
                      new WrongUse(
                          "--isolation is read-committed, repeatable-read or serializable"));
      Variant which =
          Variant.of(variant).orElseThrow(() -> new WrongUse("--variant is naive or lockstep"));
      return play(lab -> show(lab.run(scenario, level, which)));
    }

    private int show(Timeline timeline) {
      if (json) {
        console.print(LabJson.timeline(timeline).encodePrettily() + "\n");
      } else {
        console.print(TimelineText.of(timeline, columns(System.getenv())));
        if (timeline.variant() == Variant.NAIVE) {
          console.print(
              "\nSee the cure: ./lockstep lab run %s --isolation %s --variant lockstep%n"
                  .formatted(timeline.scenario().id(), Level.label(timeline.isolation())));
        }
      }
      return timeline.variant() == Variant.LOCKSTEP && timeline.verdict().anomaly() ? 1 : 0;
    }
  }

  /** Plays all scenarios. */
  @Command(
      name = "matrix",
      description = "Play every scenario at every isolation level, and print the table.")
  static final class MatrixCommand extends Playing {
    @Override
    public Integer call() {
      ProgressBar bar =
          console.bar(Lab.scenarios().size() * Isolation.values().length * Variant.values().length);
      AtomicInteger done = new AtomicInteger();
      return play(
          lab -> {
            Matrix matrix = lab.matrix(next -> bar.draw(done.getAndIncrement(), next));
            bar.erase();
            return show(matrix);
          });
    }

    private int show(Matrix matrix) {
      console.print(
          json
              ? LabJson.matrix(matrix).encodePrettily() + "\n"
              : "PostgreSQL %s%n%nNaive:%n%n%s%nWith Lockstep:%n%n%s"
                  .formatted(
                      matrix.serverVersion(),
                      matrix.table(Variant.NAIVE),
                      matrix.table(Variant.LOCKSTEP)));
      boolean held =
          matrix.rows().stream()
              .filter(row -> row.variant() == Variant.LOCKSTEP)
              .flatMap(row -> row.verdicts().values().stream())
              .noneMatch(verdict -> verdict.anomaly());
      return held ? 0 : 1;
    }
  }

  /** The terminal's width, if the shell provides it. */
  private static int columns(Map<String, String> environment) {
    String given = environment.getOrDefault("COLUMNS", "");
    int columns = given.matches("\\d{1,4}") ? Integer.parseInt(given) : DEFAULT_COLUMNS;
    return Math.max(MIN_COLUMNS, Math.min(MAX_COLUMNS, columns));
  }
}
