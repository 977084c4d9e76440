package dev.lockstep.hold;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
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
   */
  public static HoldId forKey(BuyerId owner, String key) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[] name = owner.value().getBytes(StandardCharsets.UTF_8);
      digest.update(ByteBuffer.allocate(4).putInt(name.length).array());
      digest.update(name);
      ByteBuffer hash = ByteBuffer.wrap(digest.digest(key.getBytes(StandardCharsets.UTF_8)));
      long high = (hash.getLong() & ~0xF000L) | 0x8000L;
      long low = (hash.getLong() >>> 2) | 0x8000_0000_0000_0000L;
      return new HoldId(new UUID(high, low));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java platform has SHA-256", e);
    }
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
