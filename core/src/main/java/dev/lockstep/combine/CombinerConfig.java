package dev.lockstep.combine;

import dev.lockstep.tx.TxOptions;
import java.time.Duration;

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
 * @param transaction how a batch's transaction runs. The default plans point lookups. Its idle
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
    if (gather.isNegative()) {
      throw new IllegalArgumentException("gather must not be negative");
    }
    if (drainTimeout.isNegative()) {
      throw new IllegalArgumentException("drainTimeout must not be negative");
    }
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

  public CombinerConfig withMaxBatch(int maxBatch) {
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

  /** Sets both bounds; {@code perKey} must not exceed {@code inAll}. */
  public CombinerConfig withMaxWaiting(int inAll, int perKey) {
    return new CombinerConfig(
        name, maxWriters, maxBatch, inAll, perKey, gather, drainTimeout, transaction, listener);
  }

  public CombinerConfig withGather(Duration gather) {
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

  public CombinerConfig withDrainTimeout(Duration drainTimeout) {
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

  public CombinerConfig withTransaction(TxOptions transaction) {
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

  public CombinerConfig withListener(CombinerListener listener) {
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

  private static void requirePositive(String name, int value) {
    if (value < 1) {
      throw new IllegalArgumentException(name + " must be at least 1, is " + value);
    }
  }
}
