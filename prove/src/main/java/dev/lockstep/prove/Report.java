package dev.lockstep.prove;

import dev.lockstep.prove.check.Violation;
import dev.lockstep.prove.fault.Coverage;
import dev.lockstep.prove.fault.Fault;
import dev.lockstep.prove.fault.Phase;
import dev.lockstep.prove.history.Edn;
import dev.lockstep.prove.history.History;
import dev.lockstep.prove.history.Status;
import dev.lockstep.prove.history.Timeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Renders a campaign's result as text, as JSON and as a page. */
final class Report {
  private final CampaignConfig config;
  private final Campaign.Result result;
  private final Coverage coverage;

  Report(CampaignConfig config, Campaign.Result result) {
    this.config = config;
    this.result = result;
    this.coverage = result.coverage();
  }

  private long injections() {
    return config.faults().stream().mapToLong(coverage::injections).sum();
  }

  private String summary() {
    return "Seed %d, %d rounds in %d s, %,d operations checked (%,d/s), %,d faults injected, %d violations"
        .formatted(
            result.seed(),
            result.rounds(),
            result.took().toSeconds(),
            result.operations(),
            result.operationsPerSecond(),
            injections(),
            result.violations().size());
  }

  String text() {
    StringBuilder text = new StringBuilder(summary()).append('\n');
    text.append(
        "%,d parts judged alone, %,d undecided; %,d reads at the end of rounds%n%n"
            .formatted(result.parts(), result.undecided(), result.reads()));
    text.append(
        String.format(
            Locale.ROOT, "%-24s %9s %9s %9s %9s%n", "calls", "ok", "refused", "failed", "unknown"));
    result
        .calls()
        .forEach(
            (kind, counts) ->
                text.append(
                    String.format(
                        Locale.ROOT,
                        "%-24s %9d %9d %9d %9d%n",
                        kind,
                        counts.getOrDefault(Status.OK, 0L),
                        counts.getOrDefault(Status.REFUSED, 0L),
                        counts.getOrDefault(Status.FAILED, 0L),
                        counts.getOrDefault(Status.UNKNOWN, 0L))));
    text.append(String.format(Locale.ROOT, "%n%-20s %10s  hits by block%n", "fault", "injected"));
    for (Fault fault : config.faults()) {
      text.append(
          String.format(
              Locale.ROOT,
              "%-20s %10d  %s%n",
              fault.word(),
              coverage.injections(fault),
              hits(fault)));
    }
    text.append(
        String.format(
            Locale.ROOT, "%n%d cells were never hit%n", coverage.missing(config.faults()).size()));
    for (Fault fault : config.faults()) {
      List<String> missing = coverage.missing(List.of(fault));
      if (!missing.isEmpty()) {
        String prefix = fault.word() + " / ";
        text.append(
            String.format(
                Locale.ROOT,
                "  %-18s %s%n",
                fault.word(),
                String.join(
                    ", ",
                    missing.stream()
                        .map(cell -> cell.substring(prefix.length()).toLowerCase(Locale.ROOT))
                        .toList())));
      }
    }
    for (Violation violation : result.violations()) {
      text.append("\nBROKEN ").append(violation).append('\n');
    }
    return text.toString();
  }

  /** As "hold 3 statement, 1 open, 2 commit". */
  private String hits(Fault fault) {
    List<String> blocks = new ArrayList<>();
    for (String subject : Coverage.SUBJECTS) {
      List<String> phases = new ArrayList<>();
      for (Phase phase : Phase.values()) {
        long count = coverage.hits(fault, subject, phase);
        if (count > 0) {
          phases.add(count + " " + phase.name().toLowerCase(Locale.ROOT));
        }
      }
      if (!phases.isEmpty()) {
        blocks.add(subject + " " + String.join(", ", phases));
      }
    }
    return String.join("; ", blocks);
  }

  String json() {
    StringBuilder json = new StringBuilder();
    json.append(
        "{\"seed\":%d,\"rounds\":%d,\"round\":%d,\"seconds\":%d,\"operations\":%d,\"reads\":%d,\"parts\":%d,\"undecided\":%d,\"injections\":{"
            .formatted(
                result.seed(),
                result.rounds(),
                result.round(),
                result.took().toSeconds(),
                result.operations(),
                result.reads(),
                result.parts(),
                result.undecided()));
    List<String> parts = new ArrayList<>();
    for (Fault fault : config.faults()) {
      parts.add("\"%s\":%d".formatted(fault.word(), coverage.injections(fault)));
    }
    json.append(String.join(",", parts)).append("},\"calls\":{");
    parts.clear();
    for (Map.Entry<String, Map<Status, Long>> each : result.calls().entrySet()) {
      List<String> counts = new ArrayList<>();
      each.getValue()
          .forEach(
              (status, count) ->
                  counts.add("\"%s\":%d".formatted(status.name().toLowerCase(Locale.ROOT), count)));
      parts.add("\"%s\":{%s}".formatted(each.getKey(), String.join(",", counts)));
    }
    json.append(String.join(",", parts)).append("},\"neverHit\":[");
    json.append(
        String.join(",", coverage.missing(config.faults()).stream().map(Report::quoted).toList()));
    json.append("],\"violations\":[");
    json.append(
        String.join(",", result.violations().stream().map(v -> quoted(v.toString())).toList()));
    return json.append("]}\n").toString();
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' ') {
        quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }

  String timeline() {
    List<String> facts = new ArrayList<>(List.of(summary()));
    result.violations().forEach(violation -> facts.add(violation.toString()));
    Violation first = result.violations().get(0);
    History shortest = result.shortest();
    facts.add(shortest.ops().size() + " calls are left of this part after shrinking.");
    return Timeline.page("Broken: " + first.rule(), facts, shortest);
  }

  /** The isolation workload for Elle; empty if it was not part of the round. */
  String edn() {
    return result.failing() == null ? "" : Edn.listAppend(result.failing());
  }

  String markdown() {
    return new ProofDocument(config, result, summary()).text();
  }
}
