package dev.lockstep.prove.planted;

import dev.lockstep.prove.Campaign;
import dev.lockstep.prove.CampaignConfig;
import dev.lockstep.prove.check.Violation;
import dev.lockstep.prove.fault.Cluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;

/**
 * Puts each planted bug in and runs the campaign until it is found. Arguments: the seconds for each
 * bug (30), and a part of the names of those to try (all).
 */
public final class PlantedCommand {
  private static final Logger DRIVER_LOG = Logger.getLogger("org.postgresql");

  private PlantedCommand() {}

  public static void main(String[] args) throws Exception {
    DRIVER_LOG.setLevel(Level.OFF);
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 30;
    String part = args.length > 1 ? args[1] : "";
    List<Planted> wanted =
        PlantedBugs.all().stream()
            .filter(bug -> bug.name().contains(part) || bug.workload().equals(part))
            .toList();
    Path folder = Files.createTempDirectory("lockstep-planted");
    int found = 0;
    try (Campaign campaign = new Campaign(folder, config(wanted.get(0), seconds))) {
      for (Planted bug : wanted) {
        found += tried(campaign, bug, seconds) ? 1 : 0;
      }
    } finally {
      delete(folder);
    }
    System.out.printf(Locale.ROOT, "%d planted, %d found%n", wanted.size(), found);
    System.exit(found == wanted.size() ? 0 : 1);
  }

  private static CampaignConfig config(Planted bug, int seconds) {
    return CampaignConfig.of(1, Duration.ofSeconds(seconds))
        .with(List.of(bug.workload()), bug.faults())
        .withClients(8)
        .withRounds(
            bug.faults().isEmpty() ? Duration.ofSeconds(4) : Cluster.LEASE.multipliedBy(5), 0);
  }

  private static boolean tried(Campaign campaign, Planted bug, int seconds)
      throws InterruptedException {
    CampaignConfig config = config(bug, seconds);
    String verdict;
    boolean found = false;
    try {
      Campaign.Result result = campaign.run(config, new Campaign.Listener() {}, bug.tampering());
      found = !result.passed();
      Violation first = found ? result.violations().get(0) : null;
      verdict =
          first != null
              ? "found after %d calls: %s".formatted(result.operations(), first.rule())
              : "NOT FOUND in %d calls".formatted(result.operations());
    } catch (IllegalStateException | java.sql.SQLException e) {
      // Nothing works any more, or the clients wait for ever: noticed, but not by a checker.
      verdict = "NOT FOUND, the round could not end: " + e.getMessage();
    }
    if (!bug.wasApplied()) {
      verdict += " (not every edit met its statement)";
    }
    System.out.printf(Locale.ROOT, "%-8s %-70s %s%n", bug.workload(), bug.name(), verdict);
    return found;
  }

  private static void delete(Path folder) throws IOException {
    List<Path> all;
    try (Stream<Path> files = Files.walk(folder)) {
      all = files.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path file : all) {
      Files.deleteIfExists(file);
    }
  }
}
