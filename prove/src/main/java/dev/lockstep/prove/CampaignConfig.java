package dev.lockstep.prove;

import dev.lockstep.prove.fault.Fault;
import dev.lockstep.prove.work.Workloads;
import java.time.Duration;
import java.util.List;

/**
 * What a campaign does.
 *
 * @param seed decides what clients ask for, which faults come, and when
 * @param time how long faults are injected in total; reading and checking after each round come on
 *     top
 * @param workloads of {@link Workloads#NAMES}
 * @param faults empty: none
 * @param nodes processes that use the library
 * @param clients for each workload
 * @param roundTime how long one round's faults last
 * @param firstRound the number of the first round, to replay one
 */
public record CampaignConfig(
    long seed,
    Duration time,
    List<String> workloads,
    List<Fault> faults,
    int nodes,
    int clients,
    Duration roundTime,
    int firstRound) {
  public static final int MAX_NODES = 8;
  public static final int MAX_CLIENTS = 64;

  public CampaignConfig {
    workloads = List.copyOf(workloads);
    faults = List.copyOf(faults);
    if (workloads.isEmpty() || !Workloads.NAMES.containsAll(workloads)) {
      throw new IllegalArgumentException(
          "workloads must be some of " + Workloads.NAMES + ", not " + workloads);
    }
    if (nodes < 1 || nodes > MAX_NODES) {
      throw new IllegalArgumentException("nodes must be 1 to " + MAX_NODES + ", not " + nodes);
    }
    if (clients < 1 || clients > MAX_CLIENTS) {
      throw new IllegalArgumentException("clients must be 1 to " + MAX_CLIENTS);
    }
    if (time.isNegative() || time.isZero() || roundTime.isNegative() || roundTime.isZero()) {
      throw new IllegalArgumentException("time and roundTime must be more than 0");
    }
    if (firstRound < 0) {
      throw new IllegalArgumentException("firstRound must not be negative");
    }
  }

  /** Every workload and every fault, three nodes. */
  public static CampaignConfig of(long seed, Duration time) {
    return new CampaignConfig(
        seed, time, Workloads.NAMES, List.of(Fault.values()), 3, 12, Duration.ofSeconds(60), 0);
  }

  public CampaignConfig with(List<String> someWorkloads, List<Fault> someFaults) {
    return new CampaignConfig(
        seed, time, someWorkloads, someFaults, nodes, clients, roundTime, firstRound);
  }

  public CampaignConfig withNodes(int count) {
    return new CampaignConfig(seed, time, workloads, faults, count, clients, roundTime, firstRound);
  }

  public CampaignConfig withClients(int count) {
    return new CampaignConfig(seed, time, workloads, faults, nodes, count, roundTime, firstRound);
  }

  public CampaignConfig withRounds(Duration each, int first) {
    return new CampaignConfig(seed, time, workloads, faults, nodes, clients, each, first);
  }
}
