package dev.lockstep.server.rate;

import io.vertx.core.http.HttpServerResponse;
import java.time.Duration;
import java.util.Optional;

/**
 * What a request was told when it asked a bucket for a token.
 *
 * @param policy the name of the limit
 * @param rate the limit
 * @param remaining how many more requests would be served at once
 * @param untilFull when the whole burst will be there again
 * @param retryAfter empty: a token was given; else when there will be one
 */
public record Allowance(
    String policy, Rate rate, int remaining, Duration untilFull, Optional<Duration> retryAfter) {
  /** The names of the two header fields, as draft-ietf-httpapi-ratelimit-headers-10 has them. */
  public static final String POLICY_HEADER = "RateLimit-Policy";

  public static final String HEADER = "RateLimit";

  public boolean granted() {
    return retryAfter.isEmpty();
  }

  /** {@code "buyer";q=20;w=2}: so many requests in so many seconds. */
  public String policyField() {
    return "\"%s\";q=%d;w=%d".formatted(policy, rate.burst(), rate.windowSeconds());
  }

  /** {@code "buyer";r=3;t=2}: so many are left, and all are there again in so many seconds. */
  public String field() {
    return "\"%s\";r=%d;t=%d".formatted(policy, remaining, seconds(untilFull));
  }

  /** Tells it with an answer, besides other limits that the request has met. */
  public void tell(HttpServerResponse response) {
    response.headers().add(POLICY_HEADER, policyField()).add(HEADER, field());
  }

  private static long seconds(Duration duration) {
    return duration.plusNanos(999_999_999).toSeconds();
  }
}
