package dev.lockstep.job;

import dev.lockstep.shard.Lease;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the stragglers of this node's shards until the job, its node or its claim ends. For the
 * reader's thread.
 */
final class StragglerWatch {
  private static final Logger log = LoggerFactory.getLogger(StragglerWatch.class);

  private final WorkerMemory memory;
  private final JobReads reads;
  private final StragglerTable table;
  private final StragglerClaims claims;
  private final ShardRecovery recovery;

  StragglerWatch(
      WorkerMemory memory,
      JobReads reads,
      StragglerTable table,
      StragglerClaims claims,
      ShardRecovery recovery) {
    this.memory = memory;
    this.reads = reads;
    this.table = table;
    this.claims = claims;
    this.recovery = recovery;
  }

  /** Finds the stragglers of newly taken shards. No job of such a shard begins before this. */
  void examine() {
    List<Lease> leases = memory.unexamined();
    if (!leases.isEmpty()) {
      List<Straggler> found = new ArrayList<>(table.read(leases));
      found.addAll(claims.read(leases));
      for (JobRow row : reads.marked(leases)) {
        if (row.markedBy() != null) {
          found.add(Straggler.of(row, row.markedBy()));
        }
      }
      memory.examined(leases, found);
    }
  }

  /**
   * Releases lanes whose jobs have ended elsewhere.
   *
   * @param againMs in how many milliseconds to check again if stragglers remain
   */
  void lookAfter(long againMs) {
    removeEnded(againMs);
    List<Lease> leases = memory.withStragglersElsewhere();
    if (leases.isEmpty()) {
      return;
    }
    memory.wakeIn(againMs);
    // Marks before records: a record outlives its mark, so no job falls between the two reads.
    List<JobRow> marked = reads.marked(leases);
    List<Straggler> recorded = table.read(leases);
    List<Straggler> claimed = claims.read(leases);
    if (!claimed.isEmpty()) {
      claims.expire();
      claimed = claims.read(leases);
    }
    for (Lease lease : leases) {
      try {
        Set<JobId> still = stillRunning(lease, marked, recorded);
        for (Straggler one : claimed) {
          still.add(one.id());
        }
        memory.keepStragglers(lease, still);
      } catch (RuntimeException e) {
        // Only this shard's lanes wait; the other shards go on.
        log.warn(
            "Checking the stragglers of {} failed; their lanes wait until the next check: {}",
            lease,
            e.toString());
      }
    }
  }

  /** Other nodes wait for this removal; this node's reading does not depend on it. */
  private void removeEnded(long againMs) {
    try {
      table.removeEnded();
    } catch (RuntimeException e) {
      log.warn("Removing ended jobs from job_away failed; it is retried: {}", e.toString());
      memory.wakeIn(againMs);
    }
  }

  private Set<JobId> stillRunning(Lease lease, List<JobRow> marked, List<Straggler> recorded) {
    // This node knows its own running jobs without the database.
    List<JobRow> markedElsewhere =
        marked.stream()
            .filter(row -> row.id().shard() == lease.shard())
            .filter(row -> !lease.member().equals(row.markedBy()))
            .toList();
    List<Straggler> recordedElsewhere =
        recorded.stream()
            .filter(one -> one.id().shard() == lease.shard())
            .filter(one -> !lease.member().equals(one.member()))
            .toList();
    Set<JobId> still = new HashSet<>();
    if (!recordedElsewhere.isEmpty()) {
      still.addAll(recovery.forgetLost(lease, recordedElsewhere, table));
    }
    if (!markedElsewhere.isEmpty()) {
      still.addAll(recovery.countLost(lease, markedElsewhere));
    }
    return still;
  }
}
