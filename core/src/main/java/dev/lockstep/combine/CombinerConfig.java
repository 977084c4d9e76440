package dev.lockstep.combine;

import dev.lockstep.tx.TxOptions;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * The limits of a combiner.
 *
 * @param name names its threads and its transactions
 * @param maxWriters transactions at once, over all keys; each takes one connection (4)
 * @param maxBatch requests decided in one transaction (500)
 * @param maxWaiting requests that may wait, over all keys; one more is refused (100,000)
 * @param maxWaitingPerKey requests that may wait for one key, so that a hot key cannot take the
 *     whole queue (20,000)
 * @param gather how long a busy key waits between two batches for more requests (0: no wait). A key
 *     is busy if its last batch had at least {@value Gathering#BUSY} requests and some wait again,
 *     but fewer than {@value Gathering#ENOUGH}. Makes fewer and larger transactions, at the price
 *     of a few milliseconds
 * @param drainTimeout how long {@code close} lets waiting requests finish (10 s)
 * @param transaction how a batch's transaction runs. The default plans index lookups. Its idle
 *     timeout (2.5 s) is below the lock timeout: a batch computes in memory only, and if its
 *     process stops, others that want its rows wait and then get them. A statement, and the whole
 *     transaction, may take 8 s: one wait for a lock, plus 5 s for work of milliseconds and a slow
 *     COMMIT. If the rest of a message is lost, others wait no longer than that. The name becomes
 *     its label
 * @param listener receives every batch; by default there is none
 */
public record CombinerConfig(
    String name,
    int maxWriters,
    int maxBatch,
    int maxWaiting,
    int maxWaitingPerKey,
    Duration gather,
    Duration drainTimeout,
    TxOptions transaction,
    CombinerListener listener) {

  private static final Duration LONGEST = Duration.ofDays(3650);
  private static final Duration IDLE_TIMEOUT = Duration.ofMillis(2_500);
  private static final Duration TRANSACTION_TIMEOUT = Duration.ofSeconds(8);

  public CombinerConfig {
    if (name.isBlank()) {
      throw new IllegalArgumentException("name must not be blank");
    }
    requirePositive("maxWriters", maxWriters);
    requirePositive("maxBatch", maxBatch);
    requirePositive("maxWaiting", maxWaiting);
    requirePositive("maxWaitingPerKey", maxWaitingPerKey);
    if (maxWaitingPerKey > maxWaiting) {
      throw new IllegalArgumentException("maxWaitingPerKey must not exceed maxWaiting");
    }
    requireWithin("gather", gather);
    requireWithin("drainTimeout", drainTimeout);
  }

  public static CombinerConfig named(String name) {
    return new CombinerConfig(
        name,
        4,
        500,
        100_000,
        20_000,
        Duration.ZERO,
        Duration.ofSeconds(10),
        TxOptions.DEFAULT
            .withLabel(name)
            .withIndexLookups()
            .withStatementTimeout(TRANSACTION_TIMEOUT)
            .withIdleTimeout(IDLE_TIMEOUT)
            .withTransactionTimeout(TRANSACTION_TIMEOUT),
        CombinerListener.NONE);
  }

  public CombinerConfig withMaxWriters(int maxWriters) {
    return with(next -> next.maxWriters = maxWriters);
  }

  public CombinerConfig withMaxBatch(int maxBatch) {
    return with(next -> next.maxBatch = maxBatch);
  }

  /** Sets both bounds; {@code perKey} must not exceed {@code inAll}. */
  public CombinerConfig withMaxWaiting(int inAll, int perKey) {
    return with(
        next -> {
          next.maxWaiting = inAll;
          next.maxWaitingPerKey = perKey;
        });
  }

  public CombinerConfig withGather(Duration gather) {
    return with(next -> next.gather = gather);
  }

  public CombinerConfig withDrainTimeout(Duration drainTimeout) {
    return with(next -> next.drainTimeout = drainTimeout);
  }

  public CombinerConfig withTransaction(TxOptions transaction) {
    return with(next -> next.transaction = transaction);
  }

  public CombinerConfig withListener(CombinerListener listener) {
    return with(next -> next.listener = listener);
  }

  private CombinerConfig with(Consumer<Draft> change) {
    Draft next = new Draft(this);
    change.accept(next);
    return next.config();
  }

  /** A mutable copy, to change one value. */
  private static final class Draft {
    final String name;
    int maxWriters;
    int maxBatch;
    int maxWaiting;
    int maxWaitingPerKey;
    Duration gather;
    Duration drainTimeout;
    TxOptions transaction;
    CombinerListener listener;

    Draft(CombinerConfig from) {
      name = from.name;
      maxWriters = from.maxWriters;
      maxBatch = from.maxBatch;
      maxWaiting = from.maxWaiting;
      maxWaitingPerKey = from.maxWaitingPerKey;
      gather = from.gather;
      drainTimeout = from.drainTimeout;
      transaction = from.transaction;
      listener = from.listener;
    }

    CombinerConfig config() {
      return new CombinerConfig(
          name,
          maxWriters,
          maxBatch,
          maxWaiting,
          maxWaitingPerKey,
          gather,
          drainTimeout,
          transaction,
          listener);
    }
  }

  private static void requireWithin(String name, Duration duration) {
    if (duration.isNegative() || duration.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(name + " must be 0 to ten years, is " + duration);
    }
  }

  private static void requirePositive(String name, int value) {
    if (value < 1) {
      throw new IllegalArgumentException(name + " must be at least 1, is " + value);
    }
  }
}
