package dev.lockstep.server.payment;

import java.net.URI;
import java.time.Duration;

/**
 * How payments are made.
 *
 * @param apiBase the provider's address
 * @param apiKey the secret key presented to it
 * @param connectTimeout for a connection (5 s)
 * @param answerTimeout for an answer; after that, the outcome is unknown (20 s)
 * @param maxConcurrent concurrent requests (512)
 * @param maxWaiting requests waiting for one of those; further ones are refused (10,000)
 * @param retries how often a request that was not delivered, or that the provider failed to
 *     process, is sent again under the same key (1)
 */
public record PaymentsConfig(
    URI apiBase,
    String apiKey,
    Duration connectTimeout,
    Duration answerTimeout,
    int maxConcurrent,
    int maxWaiting,
    int retries) {
  public static final URI STRIPE = URI.create("https://api.stripe.com");

  public PaymentsConfig {
    if (apiKey.isBlank()) {
      throw new IllegalArgumentException("payments need an API key");
    }
    if (connectTimeout.toMillis() < 1 || answerTimeout.toMillis() < 1) {
      throw new IllegalArgumentException("timeouts must be at least 1 ms");
    }
    if (maxConcurrent < 1 || maxWaiting < 1 || retries < 0) {
      throw new IllegalArgumentException(
          "maxConcurrent and maxWaiting must be at least 1, retries at least 0");
    }
  }

  public static PaymentsConfig of(URI apiBase, String apiKey) {
    return new PaymentsConfig(
        apiBase, apiKey, Duration.ofSeconds(5), Duration.ofSeconds(20), 512, 10_000, 1);
  }

  public PaymentsConfig withAnswerTimeout(Duration answerTimeout) {
    return new PaymentsConfig(
        apiBase, apiKey, connectTimeout, answerTimeout, maxConcurrent, maxWaiting, retries);
  }

  /** Sets how many requests may run at once, and how many may wait. */
  public PaymentsConfig withLimits(int maxConcurrent, int maxWaiting) {
    return new PaymentsConfig(
        apiBase, apiKey, connectTimeout, answerTimeout, maxConcurrent, maxWaiting, retries);
  }

  public PaymentsConfig withRetries(int retries) {
    return new PaymentsConfig(
        apiBase, apiKey, connectTimeout, answerTimeout, maxConcurrent, maxWaiting, retries);
  }

  /** Without the key. */
  @Override
  public String toString() {
    return "PaymentsConfig[apiBase=" + apiBase + ", maxConcurrent=" + maxConcurrent + "]";
  }
}
