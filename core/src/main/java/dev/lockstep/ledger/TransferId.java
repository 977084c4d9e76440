package dev.lockstep.ledger;

import dev.lockstep.sql.DerivedId;
import java.security.SecureRandom;
import java.util.UUID;

/**
 * Identifies a transfer and makes it idempotent: the same id with the same content moves money
 * once, and every repetition gets the same answer.
 */
public record TransferId(UUID value) implements Comparable<TransferId> {
  private static final SecureRandom RANDOM = new SecureRandom();

  /**
   * Creates a new id (UUID version 7: ordered by time, so that index pages fill one after the
   * other).
   */
  public static TransferId next() {
    long millis = System.currentTimeMillis();
    long high = (millis << 16) | 0x7000 | RANDOM.nextInt(0x1000);
    long low = (RANDOM.nextLong() >>> 2) | 0x8000_0000_0000_0000L;
    return new TransferId(new UUID(high, low));
  }

  /**
   * Returns the id for an idempotency key, the same in every process (SHA-256, UUID version 8).
   *
   * @param owner the key's owner, so that two clients may use the same key
   * @throws IllegalArgumentException if a text contains an unpaired surrogate
   */
  public static TransferId forKey(String owner, String key) {
    return new TransferId(DerivedId.forKey(owner, key));
  }

  /**
   * Returns the id of a transfer that an application makes for its own purpose, the same in every
   * process. {@link #forKey} never yields it.
   *
   * @param purpose why the transfer is made
   * @param subject what it is made for
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
