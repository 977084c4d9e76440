package dev.lockstep.hold;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A 64-bit hash of buyer and lines, the same in every process. It tells two acquires under one id
 * apart. Forging a collision gains nothing.
 */
final class Fingerprint {
  // FNV-1a.
  private static final long BASIS = 0xcbf29ce484222325L;
  private static final long PRIME = 0x100000001b3L;

  private long hash = BASIS;

  private Fingerprint() {}

  static long of(BuyerId buyer, List<Line> lines) {
    Fingerprint fingerprint = new Fingerprint();
    for (byte b : buyer.value().getBytes(StandardCharsets.UTF_8)) {
      fingerprint.add(b);
    }
    for (Line line : lines) {
      // A buyer's name contains no zero byte, so name and lines never run together.
      fingerprint.addInt(0);
      fingerprint.addLong(line.pool().value());
      fingerprint.addInt(line.quantity());
      fingerprint.addInt(line.units().size());
      line.units().stream().sorted().forEach(fingerprint::addInt);
    }
    return fingerprint.hash;
  }

  private void addLong(long value) {
    addInt((int) (value >>> 32));
    addInt((int) value);
  }

  private void addInt(int value) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      add((byte) (value >>> shift));
    }
  }

  private void add(byte b) {
    hash = (hash ^ (b & 0xff)) * PRIME;
  }
}
