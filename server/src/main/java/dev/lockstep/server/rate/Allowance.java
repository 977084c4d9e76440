package dev.lockstep.server.rate;

import io.vertx.core.http.HttpServerResponse;
import java.time.Duration;
import java.util.Optional;

/**
 * A bucket's answer to a request for a token.
 *
 * @param policy the name of the limit
 * @param rate the limit
 * @param remaining how many more requests would be served now
 * @param untilFull when the bucket is full again
 * @param retryAfter empty if a token was granted; else when one will be available
 */
public record Allowance(
    String policy, Rate rate, int remaining, Duration untilFull, Optional<Duration> retryAfter) {
  /** The header field names of draft-ietf-httpapi-ratelimit-headers-10. */
  public static final String POLICY_HEADER = "RateLimit-Policy";

  public static final String HEADER = "RateLimit";

  public boolean granted() {
    return retryAfter.isEmpty();
  }

  /** {@code "buyer";q=20;w=2}: the burst, and the seconds in which it refills. */
  public String policyField() {
    return "\"%s\";q=%d;w=%d".formatted(policy, rate.burst(), rate.windowSeconds());
  }

  /** {@code "buyer";r=3;t=2}: what is left, and the seconds until all is back. */
  public String field() {
    return "\"%s\";r=%d;t=%d".formatted(policy, remaining, seconds(untilFull));
  }

  /** Adds the fields to an answer, next to those of other limits. */
  public void tell(HttpServerResponse response) {
    response.headers().add(POLICY_HEADER, policyField()).add(HEADER, field());
  }

  private static long seconds(Duration duration) {
    return duration.plusNanos(999_999_999).toSeconds();
  }
}
