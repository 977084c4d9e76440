package dev.lockstep.hold;

import dev.lockstep.sql.DerivedId;
import java.security.SecureRandom;
import java.util.UUID;

/**
 * Identifies a hold and makes acquiring idempotent: the same id with the same content is granted
 * once, and every repetition gets the same answer.
 */
public record HoldId(UUID value) implements Comparable<HoldId> {
  /** Stands for "no hold". */
  static final HoldId NONE = new HoldId(new UUID(0, 0));

  private static final SecureRandom RANDOM = new SecureRandom();

  /**
   * Creates a new id (UUID version 7: ordered by time, so that index pages fill one after the
   * other).
   */
  public static HoldId next() {
    long millis = System.currentTimeMillis();
    long high = (millis << 16) | 0x7000 | RANDOM.nextInt(0x1000);
    long low = (RANDOM.nextLong() >>> 2) | 0x8000_0000_0000_0000L;
    return new HoldId(new UUID(high, low));
  }

  /**
   * Returns the id for an idempotency key, the same in every process (SHA-256, UUID version 8).
   *
   * @param owner the key's owner, so that two clients may use the same key
   * @throws IllegalArgumentException if the key contains an unpaired surrogate
   */
  public static HoldId forKey(BuyerId owner, String key) {
    return new HoldId(DerivedId.forKey(owner.value(), key));
  }

  /**
   * As {@link #forKey}, for one purpose: an owner's key yields a different hold for each purpose,
   * and never one that {@link #forKey} yields.
   *
   * @param purpose what the application takes the hold for
   */
  public static HoldId forPurpose(String purpose, BuyerId owner, String key) {
    return new HoldId(DerivedId.forPurpose(purpose, owner.value(), key));
  }

  public static HoldId of(String text) {
    return new HoldId(UUID.fromString(text));
  }

  @Override
  public int compareTo(HoldId other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value.toString();
  }
}
