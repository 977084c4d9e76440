package dev.lockstep.job;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Optional;
import java.util.UUID;

/**
 * Identifies one claim of one job. A later claim of the job has another token, which makes this one
 * void. Half of it is random, so it cannot be guessed.
 */
public record ClaimToken(JobId job, UUID lease) {
  private static final int BYTES = 32;

  /** Parses a token; empty if the text is not one. */
  public static Optional<ClaimToken> parse(String text) {
    byte[] bytes;
    try {
      bytes = Base64.getUrlDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
    if (bytes.length != BYTES) {
      return Optional.empty();
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    ClaimToken token =
        new ClaimToken(
            new JobId(new UUID(buffer.getLong(), buffer.getLong())),
            new UUID(buffer.getLong(), buffer.getLong()));
    // Base64's last character has spare bits; accept only the canonical text.
    return token.toString().equals(text) ? Optional.of(token) : Optional.empty();
  }

  @Override
  public String toString() {
    ByteBuffer buffer = ByteBuffer.allocate(BYTES);
    buffer
        .putLong(job.value().getMostSignificantBits())
        .putLong(job.value().getLeastSignificantBits())
        .putLong(lease.getMostSignificantBits())
        .putLong(lease.getLeastSignificantBits());
    return Base64.getUrlEncoder().withoutPadding().encodeToString(buffer.array());
  }
}
