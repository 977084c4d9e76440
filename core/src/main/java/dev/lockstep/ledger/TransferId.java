package dev.lockstep.ledger;

import dev.lockstep.tx.DerivedId;
import java.security.SecureRandom;
import java.util.UUID;

/**
 * Names a transfer, and makes it idempotent: the same id with the same content moves money once and
 * is answered alike ever after.
 */
public record TransferId(UUID value) implements Comparable<TransferId> {
  private static final SecureRandom RANDOM = new SecureRandom();

  /** A new id (UUID version 7: ordered by time, so that index pages fill one after the other). */
  public static TransferId next() {
    long millis = System.currentTimeMillis();
    long high = (millis << 16) | 0x7000 | RANDOM.nextInt(0x1000);
    long low = (RANDOM.nextLong() >>> 2) | 0x8000_0000_0000_0000L;
    return new TransferId(new UUID(high, low));
  }

  /**
   * The id that belongs to an idempotency key, the same in every process (SHA-256, UUID version 8).
   *
   * @param owner whose key it is, so that two clients may use the same key
   * @throws IllegalArgumentException for text with half a character (an unpaired surrogate)
   */
  public static TransferId forKey(String owner, String key) {
    return new TransferId(DerivedId.forKey(owner, key));
  }

  /**
   * The id of a transfer that an application makes for itself, the same in every process. No key of
   * any owner names it, see {@link #forKey}.
   *
   * @param purpose what it is made for
   * @param subject what it is made of
   */
  public static TransferId forPurpose(String purpose, String subject) {
    return new TransferId(DerivedId.forPurpose(purpose, subject));
  }

  public static TransferId of(String text) {
    return new TransferId(UUID.fromString(text));
  }

  @Override
  public int compareTo(TransferId other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value.toString();
  }
}
