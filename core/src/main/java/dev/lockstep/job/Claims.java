package dev.lockstep.job;

import dev.lockstep.shard.ShardCount;
import dev.lockstep.tx.HintListener;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import javax.sql.DataSource;

/**
 * Jobs for those who do them outside any {@link Worker}, in another process and another language:
 * each is taken under a lease of its own, on the database's clock.
 *
 * <pre>
 *            claim                     Done
 *   ready ─────────→ claimed ──────────────────→ done
 *     ↑                 │  Retry, Snooze: again later; Dead, or the last attempt: a dead letter
 *     └─────────────────┘  lease passed: an attempt is counted
 * </pre>
 *
 * <p>A job has at most one live claim, and only its token ends it: what the holder of an earlier
 * one writes is refused, with everything in its transaction. Lanes, priorities, pause and rate hold
 * as they do for workers. As long as a worker serves the queue, nothing of it is given out; a
 * worker that comes leaves jobs and lanes alone that are claimed. Made by {@link Jobs#claims}.
 * Thread-safe.
 */
public final class Claims {
  /** Jobs given out in one transaction, at most; more wait for the next. */
  public static final int MAX_BATCH = 500;

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
    this.options = transactor.defaults().withLabel("job claim ends").withPointLookups();
    this.claiming = options.withLabel(JobsConfig.CLAIM_TRANSACTION);
  }

  /**
   * What was given out.
   *
   * @param jobs for each who asked theirs, in the order in which they are due
   * @param nextMs when somebody got nothing: in how many milliseconds it is worth to ask again,
   *     unless a hint comes before; empty if that is not known
   * @param served nothing is given out, since a worker serves the queue
   */
  public record Taken(List<List<ClaimedJob>> jobs, OptionalLong nextMs, boolean served) {}

  /**
   * Takes due jobs of a queue, for several callers at once: the first is served first. Commits by
   * itself.
   *
   * @throws IllegalArgumentException if they ask for more than {@link #MAX_BATCH} in all, or for
   *     ticks of schedules, which only a worker with {@link Schedules#handlers} runs
   */
  public Taken claim(String queue, List<ClaimAsk> asks) {
    Names.require("A queue", queue);
    if (queue.equals(Schedules.QUEUE)) {
      throw new IllegalArgumentException(
          "Queue %s holds the ticks of schedules: serve it with a worker".formatted(queue));
    }
    if (asks.stream().mapToInt(ClaimAsk::max).sum() > MAX_BATCH) {
      throw new IllegalArgumentException("At most %d jobs at a time".formatted(MAX_BATCH));
    }
    return transactor.call(
        claiming,
        c -> {
          shardCount.requireAgreed(c);
          return new ClaimTable(c, queue, config, ids).claim(asks);
        });
  }

  /**
   * Says how a claimed job ended, in the caller's transaction; effects of {@link Outcome.Done} are
   * written in it, too. The caller commits, or rolls back when the claim is lost.
   */
  public ClaimEnd end(Connection connection, ClaimToken token, String claimer, Outcome outcome) {
    return transactor.on(connection, c -> results(c).end(token, claimer, outcome));
  }

  /**
   * The queue of a job whose claim is live and the claimer's. Promises nothing for later: {@link
   * #end} decides.
   */
  public Optional<String> queueOf(Connection connection, ClaimToken token, String claimer) {
    return transactor.on(connection, c -> results(c).look(token, claimer));
  }

  /**
   * Extends a lease that has not passed, from now on. Commits by itself.
   *
   * @param lease empty: as long as it was claimed for
   * @return when it ends; empty if the claim is lost
   */
  public Optional<Instant> extend(ClaimToken token, String claimer, Optional<Duration> lease) {
    lease.ifPresent(ClaimAsk::requireLease);
    return transactor.call(options, c -> results(c).extend(token, claimer, lease));
  }

  /** Takes claims back that their callers never got. Counts no attempt. Commits by itself. */
  public void giveBack(List<ClaimToken> tokens) {
    if (!tokens.isEmpty()) {
      transactor.run(options, c -> results(c).giveBack(tokens));
    }
  }

  /**
   * Ends the claim of a job that was changed or deleted while it was claimed, when its caller has
   * been told so: its lane need not wait for the lease. Leaves any other alone. Commits by itself.
   */
  public void giveBackIfChanged(ClaimToken token, String claimer) {
    transactor.run(options, c -> results(c).giveBackIfChanged(token, claimer));
  }

  /**
   * Counts an attempt for every claim whose lease has passed, of all queues; what had its last is a
   * dead letter. {@link #claim} does so for its own queue. Commits by itself, in small portions.
   *
   * @return how many
   */
  public int expire() {
    int all = 0;
    int some;
    do {
      some = transactor.call(options, c -> new ClaimExpiry(c, ids).expire(Optional.empty()));
      all += some;
    } while (some == ClaimExpiry.BATCH);
    return all;
  }

  /**
   * Calls back whenever there may be something new to claim, in whatever queue. A hint can be lost.
   * Start it, and close it.
   *
   * @param listen where to get a connection of its own, past any pooler; empty: there are no hints
   */
  public HintListener hints(Optional<DataSource> listen, Runnable hint) {
    return new HintListener(listen, JobsConfig.CHANNEL, "job-claim-hints", hint);
  }

  private ClaimResults results(Connection connection) {
    return new ClaimResults(connection, config, ids);
  }
}
