package dev.lockstep.lab;

import java.util.List;
import java.util.stream.Stream;

/** All scenarios, by group. */
final class Catalogue {
  static final List<Scenario> ALL =
      Stream.of(
              SaleStories.ALL,
              QueueStories.ALL,
              OutboxStories.ALL,
              LockStories.ALL,
              RetryStories.ALL,
              VersionStories.ALL,
              DirtyAnomalies.ALL,
              SnapshotAnomalies.ALL,
              CycleAnomalies.ALL)
          .flatMap(List::stream)
          .toList();

  private Catalogue() {}
}
