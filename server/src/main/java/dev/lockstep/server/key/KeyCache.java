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
 * Recently seen keys by hash, so that neither a busy client nor somebody who repeats an unknown key
 * costs one query per request. Thread-safe.
 *
 * <p>A new key can never be cached as unknown: it is random, and nobody learns it before it is
 * stored.
 */
final class KeyCache {
  /** How long this node may miss another node's revocation. */
  static final Duration MAX_AGE = Duration.ofSeconds(5);

  /** How long a missing key is not looked up again. */
  static final Duration UNKNOWN_MAX_AGE = Duration.ofSeconds(2);

  private static final int MAX_KEYS = 100_000;
  private static final int MAX_UNKNOWN = 10_000;

  private record Entry(Principal principal, long untilNanos) {}

  private final Map<ByteBuffer, Entry> entries = new ConcurrentHashMap<>();
  private final Map<ByteBuffer, Long> unknown = new ConcurrentHashMap<>();
  private final AtomicLong revocations = new AtomicLong();
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

  /** Whether the key was good at its last look-up, however old. */
  boolean wasGood(byte[] hash) {
    return entries.containsKey(ByteBuffer.wrap(hash));
  }

  /** Whether a recent look-up did not find the key. */
  boolean isUnknown(byte[] hash) {
    Long until = unknown.get(ByteBuffer.wrap(hash));
    return until != null && until - nanoTime.getAsLong() > 0;
  }

  /** Remembers that a key is not there. */
  void keepUnknown(byte[] hash) {
    if (unknown.size() >= MAX_UNKNOWN) {
      unknown.clear();
    }
    ByteBuffer key = ByteBuffer.wrap(hash);
    entries.remove(key);
    unknown.put(key, nanoTime.getAsLong() + UNKNOWN_MAX_AGE.toNanos());
  }

  int unknownKeys() {
    return unknown.size();
  }

  /** How many keys were forgotten so far. Read it before a look-up, for {@link #keep}. */
  long revocations() {
    return revocations.get();
  }

  /**
   * Remembers a key that is good. If any key was revoked here since the look-up, it may be this
   * one, so the next request looks it up again.
   *
   * @param before the {@link #revocations} before the look-up
   */
  void keep(byte[] hash, KeyTable.Live live, long before) {
    if (entries.size() >= MAX_KEYS) {
      // Rare, and one query per key repairs it; not worth tracking the order of use.
      entries.clear();
    }
    Duration age = live.livesFor().filter(left -> left.compareTo(MAX_AGE) < 0).orElse(MAX_AGE);
    long now = nanoTime.getAsLong();
    ByteBuffer key = ByteBuffer.wrap(hash);
    entries.put(key, new Entry(live.principal(), now + age.toNanos()));
    // Checked afterwards: a revocation from now on finds the entry and removes it.
    if (revocations.get() != before) {
      entries.put(key, new Entry(live.principal(), now));
    }
  }

  void forget(String keyId) {
    revocations.incrementAndGet();
    entries.values().removeIf(entry -> entry.principal().keyId().equals(keyId));
  }
}
