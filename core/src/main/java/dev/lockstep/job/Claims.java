package dev.lockstep.job;

import dev.lockstep.shard.ShardCount;
import dev.lockstep.sql.HintListener;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * Hands jobs to programs outside any {@link Worker}: another process, another language. Each job is
 * claimed under its own lease, on the database's clock.
 *
 * <pre>
 *            claim                     Done
 *   ready ─────────→ claimed ──────────────────→ done
 *     ↑                 │  Retry, Snooze: again later; Dead, or the last attempt: a dead letter
 *     └─────────────────┘  lease passed: an attempt is counted
 * </pre>
 *
 * <p>A job has at most one live claim, and only that claim's token ends it. A result sent with an
 * older token is refused; roll its transaction back. Lanes, priorities, pause and rate apply as
 * they do for workers. While a worker serves the queue, {@link #claim} returns no jobs; a worker
 * that starts leaves claimed jobs and their lanes alone. Made by {@link Jobs#claims}. Thread-safe.
 */
public final class Claims {
  /** Jobs claimed in one transaction, at most. */
  public static final int MAX_BATCH = 500;

  /** After the job with which their payloads reach this size, a transaction claims no more. */
  static final long MAX_BYTES = 4 * 1024 * 1024;

  private final Transactor transactor;
  private final JobsConfig config;
  private final JobIds ids;
  private final ShardCount shardCount;
  private final TxOptions claiming;
  private final TxOptions options;

  Claims(Transactor transactor, JobsConfig config, JobIds ids, ShardCount shardCount) {
    this.transactor = transactor;
    this.config = config;
    this.ids = ids;
    this.shardCount = shardCount;
    this.options = transactor.defaults().withLabel("job claim ends").withIndexLookups();
    this.claiming = options.withLabel(JobsConfig.CLAIM_TRANSACTION);
  }

  /**
   * The result of {@link #claim}.
   *
   * @param jobs one list per request: by priority, then roughly in due order
   * @param nextMs if a request got no jobs: in how many milliseconds to ask again unless a hint
   *     comes first; empty if unknown
   * @param served no jobs were claimed because a worker serves the queue
   */
  public record Taken(List<List<ClaimedJob>> jobs, OptionalLong nextMs, boolean served) {}

  /**
   * Claims due jobs of a queue for several requests, served in order; fewer than asked for where
   * their payloads are large. Runs and commits its own transaction.
   *
   * @throws IllegalArgumentException if the requests exceed {@link #MAX_BATCH} jobs in all, or the
   *     queue is {@link Schedules#QUEUE}, which only a worker with {@link Schedules#handlers} runs
   */
  public Taken claim(String queue, List<ClaimAsk> asks) {
    NameRule.require("A queue", queue);
    requireOutsideHost("claim");
    if (queue.equals(Schedules.QUEUE)) {
      throw new IllegalArgumentException(
          "Queue %s holds ticks of schedules and cannot be claimed; serve it with a worker"
              .formatted(queue));
    }
    if (asks.stream().mapToInt(ClaimAsk::max).sum() > MAX_BATCH) {
      throw new IllegalArgumentException(
          "A call claims at most %d jobs; ask for fewer".formatted(MAX_BATCH));
    }
    return transactor.call(
        claiming,
        c -> {
          shardCount.requireAgreed(c);
          return new ClaimTable(c, queue, config, ids).claim(asks);
        });
  }

  /**
   * Writes the result of a claimed job in the caller's transaction, after the effects of {@link
   * Outcome.Done}. The caller commits, or rolls back when the claim is lost.
   *
   * @throws IllegalArgumentException for {@link Outcome.Cancel}; use {@link Jobs#cancel}
   */
  public ClaimEnd end(Connection connection, ClaimToken token, String claimer, Outcome outcome) {
    return transactor.join(connection, c -> results(c).end(token, claimer, outcome));
  }

  /**
   * Returns the queue of a job if the claimer's claim on it is live. The claim may be lost right
   * after; {@link #end} decides.
   */
  public Optional<String> queueOf(Connection connection, ClaimToken token, String claimer) {
    return transactor.join(connection, c -> results(c).look(token, claimer));
  }

  /**
   * Extends a live claim's lease, counted from now. Runs and commits its own transaction.
   *
   * @param lease empty: the duration it was claimed for
   * @return when it ends; empty if the claim is lost
   */
  public Optional<Instant> extend(ClaimToken token, String claimer, Optional<Duration> lease) {
    requireOutsideHost("extend");
    lease.ifPresent(ClaimAsk::requireLease);
    return transactor.call(options, c -> results(c).extend(token, claimer, lease));
  }

  /**
   * Ends claims that never reached their claimers, without counting an attempt. Runs and commits
   * its own transaction.
   */
  public void giveBack(List<ClaimToken> tokens) {
    if (!tokens.isEmpty()) {
      transactor.run(options, c -> results(c).giveBack(tokens));
    }
  }

  /**
   * Ends a claim if its job was changed or deleted meanwhile, so that the lane need not wait for
   * the lease. Call it once the claimer has been told. Leaves any other claim alone. Runs and
   * commits its own transaction.
   */
  public void giveBackIfChanged(ClaimToken token, String claimer) {
    transactor.run(options, c -> results(c).giveBackIfChanged(token, claimer));
  }

  /**
   * Ends expired claims of all queues: counts an attempt for each job, and jobs without attempts
   * left become dead letters. {@link #claim} does this for its own queue. Commits in small
   * transactions.
   *
   * @return how many claims were ended
   */
  public int expire() {
    int all = 0;
    Optional<JobId> after = Optional.empty();
    do {
      Optional<JobId> from = after;
      ClaimExpiry.Batch batch =
          transactor.call(options, c -> new ClaimExpiry(c, ids).expire(Optional.empty(), from));
      all += batch.ended();
      after = batch.next();
    } while (after.isPresent());
    return all;
  }

  /**
   * Returns a listener that calls back with the queues that may have a job to claim. Hints can be
   * lost. The caller starts and closes it.
   *
   * @param listen where to get a dedicated connection, past any pooler; empty: no hints
   * @param hint called on the listening thread; without any name, every queue may have one
   */
  public HintListener hints(Optional<DataSource> listen, Consumer<Set<String>> hint) {
    return new HintListener(listen, JobsConfig.CHANNEL, "job-claim-hints", hint);
  }

  /** A lease is for others to see: it must not wait for the end of somebody's transaction. */
  private void requireOutsideHost(String method) {
    transactor.requireOutsideHost("Claims." + method, "another thread");
  }

  private ClaimResults results(Connection connection) {
    return new ClaimResults(connection, config, ids);
  }
}
