package dev.lockstep.once;

import java.util.Comparator;

/**
 * An idempotency key.
 *
 * @param scope the shard it lives in, that of its effect
 * @param owner whose key it is: a principal
 * @param key as the client chose it
 */
public record OnceKey(long scope, String owner, String key) implements Comparable<OnceKey> {
  public static final int MAX_LENGTH = 255;

  private static final Comparator<OnceKey> ORDER =
      Comparator.comparingLong(OnceKey::scope)
          .thenComparing(OnceKey::owner)
          .thenComparing(OnceKey::key);

  public OnceKey {
    require("owner", owner);
    require("key", key);
  }

  @Override
  public int compareTo(OnceKey other) {
    return ORDER.compare(this, other);
  }

  private static void require(String name, String value) {
    if (value.isBlank() || value.length() > MAX_LENGTH || !Text.isStorable(value)) {
      throw new IllegalArgumentException(
          "The %s is 1 to %d characters, none of them NUL or half a character"
              .formatted(name, MAX_LENGTH));
    }
  }
}
