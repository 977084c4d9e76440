package dev.lockstep.combine;

import dev.lockstep.tx.TxOptions;
import java.time.Duration;

/**
 * The limits of a combiner.
 *
 * @param name names its threads and its transactions
 * @param maxWriters transactions under way at once, over all keys; each takes one connection (4)
 * @param maxBatch requests decided in one transaction (500)
 * @param maxWaiting requests waiting, over all keys; one more is refused (100,000)
 * @param maxWaitingPerKey requests waiting for one key, so that one hot key cannot take the whole
 *     queue (20,000)
 * @param gather how long a busy key waits for company between two batches: one whose batch had at
 *     least {@value Gathering#BUSY} requests and left some waiting, fewer than {@value
 *     Gathering#ENOUGH}. Fewer and larger transactions, for callers to whom a few milliseconds do
 *     not matter (0: no wait)
 * @param drainTimeout how long {@code close} lets waiting requests finish (10 s)
 * @param transaction how a batch's transaction runs, by default with point look-ups, and with an
 *     idle timeout (2.5 s) below the lock timeout: a batch computes in memory only, and should its
 *     process stop all the same, those who want its rows wait, but get them. A statement and the
 *     whole may take 8 s: one wait for a lock, and 5 s for work of milliseconds and a slow COMMIT.
 *     Should half a message be lost, others are kept waiting no longer. Its label is the name
 * @param listener hears of every batch; nobody by default
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
            .withPointLookups()
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
