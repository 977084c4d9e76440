package dev.lockstep.once;

import dev.lockstep.sql.LockOrder;
import dev.lockstep.sql.StorableText;
import java.util.Comparator;

/**
 * An idempotency key.
 *
 * @param scope the shard of the key and its effect
 * @param owner the principal that owns the key
 * @param key as the client chose it
 */
public record OnceKey(long scope, String owner, String key) implements Comparable<OnceKey> {
  public static final int MAX_LENGTH = 255;

  private static final Comparator<OnceKey> ORDER =
      Comparator.comparingLong(OnceKey::scope)
          .thenComparing(OnceKey::owner, LockOrder.TEXT)
          .thenComparing(OnceKey::key, LockOrder.TEXT);

  public OnceKey {
    StorableText.require("The owner", owner, MAX_LENGTH);
    StorableText.require("The key", key, MAX_LENGTH);
  }

  @Override
  public int compareTo(OnceKey other) {
    return ORDER.compare(this, other);
  }
}
