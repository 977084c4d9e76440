package dev.lockstep.server.delivery;

import java.time.Duration;

/**
 * How many deliveries are under way at a time, and how failures are put off.
 *
 * @param concurrency webhook requests of a node at a time, each with a thread (128)
 * @param perReceiver webhook requests to one host and port at a time, over all nodes (8)
 * @param slowAfter a receiver that took longer for its last answer is slow, and so is one whose
 *     answer has been awaited for longer; slow and unknown receivers share half of the concurrency
 *     (1 s)
 * @param maxAside the longest that a delivery stands aside for others before it asks again (10 s)
 * @param firstBackoff longest wait after the first failure; doubles with each (1 s)
 */
public record DeliveryConfig(
    int concurrency,
    int perReceiver,
    Duration slowAfter,
    Duration maxAside,
    Duration firstBackoff) {
  public static final DeliveryConfig DEFAULT =
      new DeliveryConfig(
          128, 8, Duration.ofSeconds(1), Duration.ofSeconds(10), Duration.ofSeconds(1));

  public static final int MAX_CONCURRENCY = 1_000;

  public DeliveryConfig {
    if (concurrency < 4 || concurrency > MAX_CONCURRENCY) {
      throw new IllegalArgumentException("concurrency is 4 to %d".formatted(MAX_CONCURRENCY));
    }
    // One alone would be an order: what fails would hold up what follows.
    if (perReceiver < 2 || perReceiver > concurrency / 2) {
      throw new IllegalArgumentException("perReceiver is 2 to half of the concurrency");
    }
    if (slowAfter.toMillis() < 1 || maxAside.toMillis() < 1 || firstBackoff.toMillis() < 1) {
      throw new IllegalArgumentException("slowAfter, maxAside and firstBackoff are at least 1 ms");
    }
  }

  public DeliveryConfig withFirstBackoff(Duration time) {
    return new DeliveryConfig(concurrency, perReceiver, slowAfter, maxAside, time);
  }
}
