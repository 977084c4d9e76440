package dev.lockstep.job;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Optional;
import java.util.UUID;

/**
 * Names one lease of one job. Whoever claims the job again has another token, and this one is worth
 * nothing from then on. Cannot be guessed: half of it is random.
 */
public record ClaimToken(JobId job, UUID lease) {
  private static final int BYTES = 32;

  /** From its text; empty if it is none. */
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
    // One lease has one text: the last character has bits to spare.
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
