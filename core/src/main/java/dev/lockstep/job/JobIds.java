package dev.lockstep.job;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Instant;
import java.util.zip.CRC32C;

/**
 * Makes ids that increase within this process even when its clock does not. Jobs enqueued in one
 * transaction are due at the same moment; their ids then give the order. The clock serves no other
 * purpose, so a wrong clock does no harm. Thread-safe.
 */
final class JobIds {
  // A few table pages; longer runs would not bring jobs of one shard closer together.
  private static final int LONGEST_RUN = 256;

  // The counter's top 12 bits go above the variant; these go below it, before the shard.
  private static final int RANDOM_LOW_BITS = 62 - JobId.SHARD_BITS;

  private final Clock clock;
  private final int shards;
  private final SecureRandom random = new SecureRandom();
  private long lastMillis;
  private long counter;
  private int nextShard;

  JobIds(Clock clock, int shards) {
    this.clock = clock;
    this.shards = shards;
    this.nextShard = random.nextInt(shards);
  }

  /** Ids for this many jobs without lane or unique key. The result is not thread-safe. */
  Spread spread(int count) {
    return new Spread(count);
  }

  /**
   * Takes the shards in turn, in runs as long as an even spread allows. Jobs of one shard then lie
   * together in the table, as they will be read and deleted, and their index entries go to the same
   * page one after the other.
   */
  final class Spread {
    private int left;
    private int each;
    private int shardsOfRound;
    private int shard;
    private int run;

    private Spread(int count) {
      left = count;
    }

    JobId next() {
      if (run == 0) {
        if (shardsOfRound == 0) {
          shardsOfRound = shards;
          each = Math.max(1, Math.min(LONGEST_RUN, left / shards));
        }
        shardsOfRound--;
        shard = nextShard();
        run = each;
      }
      run--;
      left--;
      return JobIds.this.next(shard);
    }
  }

  private synchronized int nextShard() {
    nextShard = (nextShard + 1) % shards;
    return nextShard;
  }

  /** An id for a job with a lane or unique key: one key maps to one shard. */
  JobId nextFor(String queue, String key) {
    return next(shardOf(queue, key));
  }

  int shardOf(String queue, String key) {
    CRC32C hash = new CRC32C();
    hash.update((queue + "\n" + key).getBytes(StandardCharsets.UTF_8));
    return (int) (hash.getValue() % shards);
  }

  /** An id at this instant, greater than all made before. */
  JobId at(Instant moment) {
    return next(nextShard(), moment.toEpochMilli());
  }

  private JobId next(int shard) {
    return next(shard, clock.millis());
  }

  private synchronized JobId next(int shard, long millis) {
    if (millis > lastMillis) {
      lastMillis = millis;
      // Random, with the top bit clear so that counting up does not overflow soon.
      counter = random.nextLong() >>> 1;
    } else {
      counter++;
    }
    long high = (lastMillis << 16) | 0x7000 | (counter >>> RANDOM_LOW_BITS);
    long low = 0x8000_0000_0000_0000L | ((counter << JobId.SHARD_BITS) & 0x3FFF_FFFF_FFFF_FFFFL);
    return JobId.of(high, low, shard);
  }
}
