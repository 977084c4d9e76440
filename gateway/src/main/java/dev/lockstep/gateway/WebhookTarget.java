package dev.lockstep.gateway;

import java.net.URI;
import java.time.Duration;

/**
 * The receiver of events, and how long to keep trying.
 *
 * @param url where events are posted
 * @param secret what they are signed with
 * @param answerTimeout how long the receiver may take (10 s)
 * @param retryAfter the wait after the first failure; it doubles with each further one (1 s)
 * @param maxRetryAfter the longest wait (5 min)
 * @param maxAttempts after this many failures an event is given up and only stored (25)
 * @param takeOverAfter after this, another process sends an event that its writer should have sent:
 *     the writer may have been killed (30 s)
 * @param pollInterval how often the table is asked for due events (500 ms)
 */
public record WebhookTarget(
    URI url,
    String secret,
    Duration answerTimeout,
    Duration retryAfter,
    Duration maxRetryAfter,
    int maxAttempts,
    Duration takeOverAfter,
    Duration pollInterval) {

  public WebhookTarget {
    if (secret.isBlank()) {
      throw new IllegalArgumentException("webhooks need a secret to sign with");
    }
    requirePositive("answerTimeout", answerTimeout);
    requirePositive("retryAfter", retryAfter);
    requirePositive("pollInterval", pollInterval);
    if (maxRetryAfter.compareTo(retryAfter) < 0) {
      throw new IllegalArgumentException("maxRetryAfter must not be below retryAfter");
    }
    if (takeOverAfter.compareTo(answerTimeout) <= 0) {
      throw new IllegalArgumentException(
          "takeOverAfter must exceed answerTimeout, or an event under way would be sent twice");
    }
    if (maxAttempts < 1) {
      throw new IllegalArgumentException("maxAttempts must be at least 1, is " + maxAttempts);
    }
  }

  public static WebhookTarget of(URI url, String secret) {
    return new WebhookTarget(
        url,
        secret,
        Duration.ofSeconds(10),
        Duration.ofSeconds(1),
        Duration.ofMinutes(5),
        25,
        Duration.ofSeconds(30),
        Duration.ofMillis(500));
  }

  /** The wait after this many failures. */
  Duration retryAfter(int failures) {
    int doublings = Math.min(failures - 1, Integer.SIZE - 2);
    long millis = retryAfter.toMillis() * (1L << doublings);
    return Duration.ofMillis(Math.min(millis, maxRetryAfter.toMillis()));
  }

  /** Without the secret. */
  @Override
  public String toString() {
    return "WebhookTarget[url=" + url + "]";
  }

  private static void requirePositive(String name, Duration duration) {
    if (duration.toMillis() < 1) {
      throw new IllegalArgumentException(name + " must be at least 1 ms, is " + duration);
    }
  }
}
