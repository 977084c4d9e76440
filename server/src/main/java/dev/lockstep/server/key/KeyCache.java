package dev.lockstep.server.key;

import dev.lockstep.server.api.Principal;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Keys seen lately, by their hash, so that a busy client costs no query a request. Only good keys
 * are kept: one that is unknown now may be created the next moment. Thread-safe.
 */
final class KeyCache {
  /** How long another node's revocation may go unnoticed here. */
  static final Duration MAX_AGE = Duration.ofSeconds(5);

  private static final int MAX_KEYS = 100_000;

  private record Entry(Principal principal, long untilNanos) {}

  private final Map<ByteBuffer, Entry> entries = new ConcurrentHashMap<>();
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
