package dev.lockstep.outbox;

import java.nio.charset.StandardCharsets;

/**
 * Maps a key to its partition: the same in every process and version, for ever. A 64-bit FNV-1a
 * hash, mixed so that its low bits depend on all others, modulo the partitions.
 */
final class Partitioning {
  private static final long OFFSET = 0xcbf29ce484222325L;
  private static final long PRIME = 0x100000001b3L;

  private Partitioning() {}

  static short partOf(String stream, String key, int partitions) {
    return (short) Long.remainderUnsigned(hash(stream + "\n" + key), partitions);
  }

  static long hash(String text) {
    long hash = OFFSET;
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (b & 0xff)) * PRIME;
    }
    hash = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
    hash = (hash ^ (hash >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return hash ^ (hash >>> 33);
  }
}
