package dev.lockstep.hold;

import dev.lockstep.tx.DerivedId;
import java.security.SecureRandom;
import java.util.UUID;

/**
 * Names a hold, and makes acquiring it idempotent: the same id with the same content is granted
 * once and answered alike ever after.
 */
public record HoldId(UUID value) implements Comparable<HoldId> {
  /** In place of a hold where there is none. */
  static final HoldId NONE = new HoldId(new UUID(0, 0));

  private static final SecureRandom RANDOM = new SecureRandom();

  /** A new id (UUID version 7: ordered by time, so that index pages fill one after the other). */
  public static HoldId next() {
    long millis = System.currentTimeMillis();
    long high = (millis << 16) | 0x7000 | RANDOM.nextInt(0x1000);
    long low = (RANDOM.nextLong() >>> 2) | 0x8000_0000_0000_0000L;
    return new HoldId(new UUID(high, low));
  }

  /**
   * The id that belongs to an idempotency key, the same in every process (SHA-256, UUID version 8).
   *
   * @param owner whose key it is, so that two clients may use the same key
   * @throws IllegalArgumentException for a key with half a character (an unpaired surrogate)
   */
  public static HoldId forKey(BuyerId owner, String key) {
    return new HoldId(DerivedId.forKey(owner.value(), key));
  }

  /**
   * As {@link #forKey}, for one use of a key: the same key of the same owner names another hold for
   * each purpose, and none that {@link #forKey} names.
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
