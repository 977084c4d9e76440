package dev.lockstep.job;

import dev.lockstep.shard.Lease;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches jobs that run under earlier leases of this node's shards, or are claimed, until the job,
 * its node or its claim ends. For the reader's thread.
 */
final class AwayJobs {
  private static final Logger log = LoggerFactory.getLogger(AwayJobs.class);

  private final Board board;
  private final JobReads reads;
  private final AwayTable table;
  private final AwayClaims claims;
  private final Recovery recovery;

  AwayJobs(Board board, JobReads reads, AwayTable table, AwayClaims claims, Recovery recovery) {
    this.board = board;
    this.reads = reads;
    this.table = table;
    this.claims = claims;
    this.recovery = recovery;
  }

  /** Finds the away jobs of newly taken shards. No job of such a shard begins before this. */
  void examine() {
    List<Lease> leases = board.unexamined();
    if (!leases.isEmpty()) {
      List<Away> away = new ArrayList<>(table.read(leases));
      away.addAll(claims.read(leases));
      for (JobRow row : reads.marked(leases)) {
        if (row.keeper() != null) {
          away.add(Away.of(row, row.keeper()));
        }
      }
      board.examined(leases, away);
    }
  }

  /**
   * Releases lanes whose jobs have ended elsewhere.
   *
   * @param againMs when to check again if jobs are still away
   */
  void lookAfter(long againMs) {
    removeEnded(againMs);
    List<Lease> leases = board.withAway();
    if (leases.isEmpty()) {
      return;
    }
    board.wakeIn(againMs);
    // Marks before records: a record outlives its mark, so no job falls between the two reads.
    List<JobRow> marked = reads.marked(leases);
    List<Away> recorded = table.read(leases);
    List<Away> claimed = claims.read(leases);
    if (!claimed.isEmpty()) {
      claims.expire();
      claimed = claims.read(leases);
    }
    for (Lease lease : leases) {
      try {
        Set<JobId> still = stillAway(lease, marked, recorded);
        for (Away one : claimed) {
          still.add(one.id());
        }
        board.stillAway(lease, still);
      } catch (RuntimeException e) {
        // Only this shard's lanes wait; the other shards go on.
        log.warn(
            "Checking the away jobs of {} failed; their lanes wait until the next check: {}",
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
      board.wakeIn(againMs);
    }
  }

  private Set<JobId> stillAway(Lease lease, List<JobRow> marked, List<Away> recorded) {
    // This node knows its own running jobs without the database.
    List<JobRow> markedElsewhere =
        marked.stream()
            .filter(row -> row.id().shard() == lease.shard())
            .filter(row -> !lease.member().equals(row.keeper()))
            .toList();
    List<Away> recordedElsewhere =
        recorded.stream()
            .filter(one -> one.id().shard() == lease.shard())
            .filter(one -> !lease.member().equals(one.member()))
            .toList();
    Set<JobId> still = new HashSet<>();
    if (!recordedElsewhere.isEmpty()) {
      still.addAll(recovery.forgetTheLost(lease, recordedElsewhere, table));
    }
    if (!markedElsewhere.isEmpty()) {
      still.addAll(recovery.countTheLost(lease, markedElsewhere));
    }
    return still;
  }
}
