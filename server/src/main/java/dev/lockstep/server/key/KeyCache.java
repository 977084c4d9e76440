package dev.lockstep.server.key;

import dev.lockstep.server.api.Principal;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Keys seen lately, by their hash, so that a busy client costs no query per request, and neither
 * does somebody who repeats a key that is not known. Thread-safe.
 *
 * <p>A key that is made on this node is known at once: what was being looked up while it was made
 * is not remembered as unknown. Another node may not know it for {@link #UNKNOWN_MAX_AGE}.
 */
final class KeyCache {
  /** How long another node's revocation may go unnoticed here. */
  static final Duration MAX_AGE = Duration.ofSeconds(5);

  /** How long a key of another node's may still be unknown here, if it was asked for before. */
  static final Duration UNKNOWN_MAX_AGE = Duration.ofSeconds(2);

  private static final int MAX_KEYS = 100_000;
  private static final int MAX_UNKNOWN = 10_000;

  private record Entry(Principal principal, long untilNanos) {}

  private final Map<ByteBuffer, Entry> entries = new ConcurrentHashMap<>();
  private final Map<ByteBuffer, Long> unknown = new ConcurrentHashMap<>();
  private final AtomicLong made = new AtomicLong();
  private final LongSupplier nanoTime;

  KeyCache(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  Optional<Principal> find(byte[] hash) {
    Entry entry = entries.get(ByteBuffer.wrap(hash));
    return entry != null && entry.untilNanos() - nanoTime.getAsLong() > 0
        ? Optional.of(entry.principal())
        : Optional.empty();
  }

  /** Whether the key was good when it was last looked up, perhaps a while ago. */
  boolean wasGood(byte[] hash) {
    return entries.containsKey(ByteBuffer.wrap(hash));
  }

  /** Whether the key was looked up a moment ago, and was not there. */
  boolean isUnknown(byte[] hash) {
    Long until = unknown.get(ByteBuffer.wrap(hash));
    return until != null && until - nanoTime.getAsLong() > 0;
  }

  /** Names the keys that there are now; to be asked before a key is looked up. */
  long keysMade() {
    return made.get();
  }

  /**
   * Remembers that a key is not there.
   *
   * @param keysMade from before it was looked up: one made since may be this one
   */
  void keepUnknown(byte[] hash, long keysMade) {
    if (unknown.size() >= MAX_UNKNOWN) {
      unknown.clear();
    }
    ByteBuffer key = ByteBuffer.wrap(hash);
    entries.remove(key);
    unknown.put(key, nanoTime.getAsLong() + UNKNOWN_MAX_AGE.toNanos());
    if (made.get() != keysMade) {
      unknown.remove(key);
    }
  }

  int unknownKeys() {
    return unknown.size();
  }

  /** After a key was committed, and before anybody is told. */
  void forgetUnknown(byte[] hash) {
    made.incrementAndGet();
    unknown.remove(ByteBuffer.wrap(hash));
  }

  void keep(byte[] hash, KeyTable.Live live) {
    if (entries.size() >= MAX_KEYS) {
      // Rare, and a query a key repairs it: not worth keeping an order of use for.
      entries.clear();
    }
    Duration age = live.livesFor().filter(left -> left.compareTo(MAX_AGE) < 0).orElse(MAX_AGE);
    long until = nanoTime.getAsLong() + age.toNanos();
    entries.put(ByteBuffer.wrap(hash), new Entry(live.principal(), until));
  }

  void forget(String keyId) {
    entries.values().removeIf(entry -> entry.principal().keyId().equals(keyId));
  }
}
