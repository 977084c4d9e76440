package dev.lockstep.prove;

import dev.lockstep.prove.fault.Coverage;
import dev.lockstep.prove.fault.Fault;
import dev.lockstep.prove.fault.Phase;
import dev.lockstep.prove.history.Status;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;

/** The page docs/proof.md, written from one run. */
final class ProofDocument {
  private final CampaignConfig config;
  private final Campaign.Result result;
  private final String summary;

  ProofDocument(CampaignConfig config, Campaign.Result result, String summary) {
    this.config = config;
    this.result = result;
    this.summary = summary;
  }

  String text() {
    StringBuilder page = new StringBuilder();
    page.append(
        """
        # Proof

        `./lockstep prove` runs real processes on a real PostgreSQL with fsync on, breaks them at moments that a seed decides, and checks
        every answer that a client got. This page is written by the command; each run writes its own.

        """);
    page.append(
        "%s.%n%n%,d pools, buyers, keys, books and the like were judged alone; for %,d of them the search for an order was given up.%nBesides the operations, %,d reads were made at the end of rounds.%n%nMachine: %s, %d processors, %s. Java %s. Commit %s. Nodes: %d. Workloads: %s.%n%n"
            .formatted(
                summary,
                result.parts(),
                result.undecided(),
                result.reads(),
                System.getProperty("os.arch"),
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("os.name"),
                System.getProperty("java.version"),
                commit(),
                config.nodes(),
                String.join(", ", config.workloads())));
    page.append(
        "## Faults\n\nHow often each was injected, and how many transactions it met in each phase.\n\n");
    page.append(
        "| Fault | Meaning | Injected | In a statement | Between two | In COMMIT |\n|---|---|---|---|---|---|\n");
    for (Fault fault : config.faults()) {
      page.append(
          "| `%s` | %s | %d | %d | %d | %d |%n"
              .formatted(
                  fault.word(),
                  fault.meaning(),
                  result.coverage().injections(fault),
                  hits(fault, Phase.STATEMENT),
                  hits(fault, Phase.OPEN),
                  hits(fault, Phase.COMMIT) + hits(fault, Phase.COMMITTED)));
    }
    page.append(
        "%nNever hit: %d of the cells fault × block × phase.%n%n"
            .formatted(result.coverage().missing(config.faults()).size()));
    page.append("## Calls\n\n| Call | OK | Refused | Failed | Unknown |\n|---|---|---|---|---|\n");
    for (Map.Entry<String, Map<Status, Long>> each : result.calls().entrySet()) {
      Map<Status, Long> counts = each.getValue();
      page.append(
          "| `%s` | %d | %d | %d | %d |%n"
              .formatted(
                  each.getKey(),
                  counts.getOrDefault(Status.OK, 0L),
                  counts.getOrDefault(Status.REFUSED, 0L),
                  counts.getOrDefault(Status.FAILED, 0L),
                  counts.getOrDefault(Status.UNKNOWN, 0L)));
    }
    page.append("\n## Violations\n\n");
    page.append(result.passed() ? "None.\n" : "");
    result.violations().forEach(violation -> page.append("- ").append(violation).append('\n'));
    page.append(
        """

        ## Not tried

        PgBouncer and Kafka as parts of a campaign; promotion of a standby; wrong clocks; a full disk; an ICU collation; PostgreSQL 14
        to 17. Their own tests cover some of these ([guarantees](guarantees.md)).
        """);
    return page.toString();
  }

  private long hits(Fault fault, Phase phase) {
    return Coverage.SUBJECTS.stream()
        .mapToLong(subject -> result.coverage().hits(fault, subject, phase))
        .sum();
  }

  private static String commit() {
    try {
      Process git =
          new ProcessBuilder("git", "describe", "--always", "--dirty")
              .redirectErrorStream(true)
              .start();
      String said = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      return git.waitFor() == 0 ? said.toLowerCase(Locale.ROOT) : "unknown";
    } catch (IOException e) {
      return "unknown";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "unknown";
    }
  }
}
