package dev.lockstep.server.delivery;

import java.time.Duration;

/**
 * How many deliveries run at once, and how failures are retried.
 *
 * @param concurrency webhook requests per node at once, one thread each (128)
 * @param perReceiver webhook requests to one host and port at once, over all nodes (8)
 * @param slowAfter a receiver is slow if its last answer took longer, or if one is overdue by this
 *     measure; slow and unknown receivers share half of the concurrency (1 s)
 * @param maxAside how long a delivery steps aside at most before it asks again, give or take half
 *     (10 s)
 * @param firstBackoff longest wait after the first failure; doubles with each further one (1 s)
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
      throw new IllegalArgumentException("concurrency must be 4 to %d".formatted(MAX_CONCURRENCY));
    }
    // With 1, deliveries would be ordered: a failing one would delay all that follow.
    if (perReceiver < 2 || perReceiver > concurrency / 2) {
      throw new IllegalArgumentException("perReceiver must be 2 to half of concurrency");
    }
    if (slowAfter.toMillis() < 1 || maxAside.toMillis() < 1 || firstBackoff.toMillis() < 1) {
      throw new IllegalArgumentException(
          "slowAfter, maxAside and firstBackoff must be at least 1 ms");
    }
  }

  public DeliveryConfig withFirstBackoff(Duration time) {
    return new DeliveryConfig(concurrency, perReceiver, slowAfter, maxAside, time);
  }
}
