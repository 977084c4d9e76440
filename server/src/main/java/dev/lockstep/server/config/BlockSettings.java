package dev.lockstep.server.config;

import dev.lockstep.combine.CombinerConfig;
import dev.lockstep.hold.HoldsConfig;
import dev.lockstep.job.JobsConfig;
import dev.lockstep.ledger.LedgerConfig;
import dev.lockstep.once.OnceConfig;
import dev.lockstep.outbox.OutboxConfig;
import dev.lockstep.server.job.ClaimRules;
import dev.lockstep.server.setting.Kind;
import dev.lockstep.server.setting.SettingReader;
import dev.lockstep.tx.TxOptions;
import java.time.Duration;

/**
 * The settings of core's blocks.
 *
 * @param jobPollInterval how often to look for jobs without a hint (2 s)
 * @param streamPollInterval the same for events (1 s)
 * @param streamAttempts failures before an event's key is parked (10)
 * @param claims bounds for callers who run jobs over HTTP
 */
public record BlockSettings(
    HoldsConfig holds,
    LedgerConfig ledger,
    OnceConfig once,
    OutboxConfig outbox,
    JobsConfig jobs,
    Duration jobPollInterval,
    Duration streamPollInterval,
    int streamAttempts,
    ClaimRules claims) {
  private static final int MAX_SHARDS = 1_024;
  private static final int MAX_DAYS = 3_650;

  /** During a rush this saves transactions, and buyers over HTTP do not notice. */
  private static final Duration GATHER = Duration.ofMillis(5);

  private static final int HISTORY_DAYS = 7;
  private static final Duration JOB_POLL_INTERVAL = Duration.ofSeconds(2);
  private static final Duration STREAM_POLL_INTERVAL = Duration.ofSeconds(1);
  private static final int STREAM_ATTEMPTS = 10;

  /** How long completed jobs can be looked up. */
  public Duration history() {
    return Duration.ofDays(jobs.historyDays());
  }

  /**
   * Reads the settings of the blocks.
   *
   * @param transactions the options of transactions, which batches use too
   */
  public static BlockSettings read(SettingReader in, TxOptions transactions) {
    in.group("Batches of writes");
    CombinerConfig holds =
        combiner(in, "hold", "holds", HoldsConfig.DEFAULT.combiner().withGather(GATHER));
    CombinerConfig ledger = combiner(in, "ledger", "transfers", LedgerConfig.DEFAULT.combiner());
    in.group("Jobs and streams");
    int shards =
        in.read(
            "job.shards",
            Kind.number(1, MAX_SHARDS),
            JobsConfig.DEFAULT.shards(),
            "Over how many shards jobs are spread, so how many nodes can share them; a database"
                + " keeps its first number for ever.");
    Duration jobPoll =
        in.read(
            "job.poll-interval",
            Kind.duration(Duration.ofMillis(10), Duration.ofMinutes(1)),
            JOB_POLL_INTERVAL,
            "How often to look for new jobs without a notification.");
    int partitions =
        in.read(
            "outbox.partitions",
            Kind.number(1, MAX_SHARDS),
            OutboxConfig.DEFAULT.partitions(),
            "Over how many partitions events are spread, so how many nodes can relay them; a"
                + " database keeps its first number for ever.");
    Duration streamPoll =
        in.read(
            "stream.poll-interval",
            Kind.duration(Duration.ofMillis(10), Duration.ofMinutes(1)),
            STREAM_POLL_INTERVAL,
            "How often to look for new events without a notification.");
    int attempts =
        in.read(
            "stream.max-attempts",
            Kind.number(1, 1_000),
            STREAM_ATTEMPTS,
            "The failures of an event after which its key is parked, so that others go on.");
    ClaimRules claims = ClaimRules.read(in);
    in.group("Retention");
    Duration history =
        in.read(
            "retention.job-history",
            Kind.days(1, MAX_DAYS),
            Duration.ofDays(HISTORY_DAYS),
            "How long completed jobs and ended schedules can be looked up.");
    Duration answers =
        in.read(
            "retention.answers",
            Kind.duration(Duration.ofMinutes(1), Duration.ofDays(MAX_DAYS)),
            OnceConfig.DEFAULT.keepFor(),
            "How long a repeated Idempotency-Key gets its first answer.");
    Duration events =
        in.read(
            "retention.events",
            Kind.duration(Duration.ZERO, Duration.ofDays(MAX_DAYS)),
            OutboxConfig.DEFAULT.retention(),
            "How long events can be listed and replayed after every sink has had them.");
    return new BlockSettings(
        HoldsConfig.DEFAULT.withCombiner(bounded(holds, transactions)),
        LedgerConfig.DEFAULT.withCombiner(bounded(ledger, transactions)),
        OnceConfig.DEFAULT.withKeepFor(answers),
        OutboxConfig.DEFAULT.withPartitions(partitions).withRetention(events),
        JobsConfig.DEFAULT.withShards(shards).withHistoryDays(Math.toIntExact(history.toDays())),
        jobPoll,
        streamPoll,
        attempts,
        claims);
  }

  private static CombinerConfig combiner(
      SettingReader in, String block, String what, CombinerConfig usual) {
    String perKey = block + ".queue-per-key";
    int writers =
        in.read(
            block + ".writers",
            Kind.number(1, 64),
            usual.maxWriters(),
            "How many batches of %s run at once, each on a connection.".formatted(what));
    int batch =
        in.read(
            block + ".batch",
            Kind.number(1, 5_000),
            usual.maxBatch(),
            "How many requests for %s one transaction decides at most.".formatted(what));
    int inAll =
        in.read(
            block + ".queue",
            Kind.number(1, 10_000_000),
            usual.maxWaiting(),
            "How many requests for %s may wait; one more is refused.".formatted(what));
    int ofOne =
        in.read(
            perKey,
            Kind.number(1, 10_000_000),
            usual.maxWaitingPerKey(),
            "How many of them may wait for one %s."
                .formatted(block.equals("hold") ? "campaign" : "book"));
    in.require(
        ofOne <= inAll, perKey, "must not exceed", block + ".queue", "it is a part of that queue");
    Duration gather =
        in.read(
            block + ".gather",
            Kind.duration(Duration.ZERO, Duration.ofSeconds(1)),
            usual.gather(),
            "How long a busy queue of %s gathers requests between two batches.".formatted(what));
    return usual
        .withMaxWriters(writers)
        .withMaxBatch(batch)
        .withMaxWaiting(inAll, ofOne)
        .withGather(gather);
  }

  private static CombinerConfig bounded(CombinerConfig combiner, TxOptions bounds) {
    return combiner.withTransaction(
        bounds.withLabel(combiner.transaction().label()).withIndexLookups());
  }
}
