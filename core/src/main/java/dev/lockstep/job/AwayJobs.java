package dev.lockstep.job;

import dev.lockstep.shard.Lease;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after jobs that run under earlier leases of the shards this node owns, or are claimed. They
 * end, or their nodes or claims do. For the reader's thread.
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

  /** Finds what is away of shards that have just come; nothing of them begins before. */
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
   * Lets lanes go on whose jobs have ended elsewhere.
   *
   * @param againMs when to look again, if some are still away
   */
  void lookAfter(long againMs) {
    removeEnded(againMs);
    List<Lease> leases = board.withAway();
    if (leases.isEmpty()) {
      return;
    }
    board.wakeIn(againMs);
    // In this order: a record outlives the mark.
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
        // Its lanes wait; the other shards need not.
        log.warn("Not yet looked after what was cut off in {}: {}", lease, e.toString());
      }
    }
  }

  /** Other nodes wait for it, but this one's reading does not depend on it. */
  private void removeEnded(long againMs) {
    try {
      table.removeEnded();
    } catch (RuntimeException e) {
      log.warn("Jobs that have ended here are not removed yet from job_away: {}", e.toString());
      board.wakeIn(againMs);
    }
  }

  private Set<JobId> stillAway(Lease lease, List<JobRow> marked, List<Away> recorded) {
    // What this very node is said to run it knows of.
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
