package dev.lockstep.prove;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.prove.fault.Fault;
import dev.lockstep.prove.work.Workloads;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A short campaign with a fixed seed: every workload, the faults that take the least time. */
class CampaignTest {
  private static final List<Fault> QUICK =
      List.of(
          Fault.KILL,
          Fault.PAUSE,
          Fault.CUT_BEFORE_COMMIT,
          Fault.CUT_DURING_COMMIT,
          Fault.CUT_AFTER_COMMIT,
          Fault.SLOW_COMMIT,
          Fault.CUT_ALL,
          Fault.TERMINATE,
          Fault.CRASH);

  /** Shops take too long to start. */
  private static final List<String> WORKLOADS =
      Workloads.NAMES.stream().filter(name -> !name.equals("purchases")).toList();

  @Test
  void noPromiseBreaksWhileNodesConnectionsAndDatabaseDo(@TempDir Path folder) throws Exception {
    CampaignConfig config =
        CampaignConfig.of(19, Duration.ofSeconds(8))
            .with(WORKLOADS, QUICK)
            .withNodes(2)
            .withClients(4)
            .withRounds(Duration.ofSeconds(8), 0);

    try (Campaign campaign = new Campaign(folder, config)) {
      Campaign.Result result = campaign.run(config, new Campaign.Listener() {});

      assertThat(result.violations()).isEmpty();
      assertThat(result.operations()).isPositive();
      assertThat(new Report(config, result).json()).startsWith("{\"seed\":19,");
    }
  }
}
