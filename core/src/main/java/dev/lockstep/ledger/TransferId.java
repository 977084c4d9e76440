package dev.lockstep.ledger;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
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
   */
  public static TransferId forKey(String owner, String key) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[] name = owner.getBytes(StandardCharsets.UTF_8);
      digest.update(ByteBuffer.allocate(4).putInt(name.length).array());
      digest.update(name);
      ByteBuffer hash = ByteBuffer.wrap(digest.digest(key.getBytes(StandardCharsets.UTF_8)));
      long high = (hash.getLong() & ~0xF000L) | 0x8000L;
      long low = (hash.getLong() >>> 2) | 0x8000_0000_0000_0000L;
      return new TransferId(new UUID(high, low));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java platform has SHA-256", e);
    }
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
