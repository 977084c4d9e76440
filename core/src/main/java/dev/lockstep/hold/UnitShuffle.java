package dev.lockstep.hold;

import dev.lockstep.sql.Sha256;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * The order in which a pool's units are given out, derived from a seed. Anyone with the seed can
 * recompute it and check which unit came when.
 *
 * <p>Fisher–Yates from the last position down. The random numbers are the big-endian 64-bit words
 * of SHA-256(seed ‖ pool id as 8 bytes ‖ counter as 8 bytes), with the counter starting at 0. A
 * number below {@code n} is the word without its sign bit, modulo {@code n}; words that would
 * favour small results are skipped.
 */
public final class UnitShuffle {
  public static final int MIN_SEED_BYTES = 16;
  private static final int WORDS_PER_DIGEST = 4;

  private final byte[] seed;

  private UnitShuffle(byte[] seed) {
    if (seed.length < MIN_SEED_BYTES) {
      throw new IllegalArgumentException("A seed must have at least " + MIN_SEED_BYTES + " bytes");
    }
    this.seed = seed;
  }

  public static UnitShuffle seeded(byte[] seed) {
    return new UnitShuffle(seed.clone());
  }

  public static UnitShuffle seeded(String hexadecimal) {
    return new UnitShuffle(HexFormat.of().parseHex(hexadecimal));
  }

  /** The units 0 to {@code total - 1}, in the order they are given out. */
  public int[] order(PoolId pool, int total) {
    int[] units = new int[total];
    for (int i = 0; i < total; i++) {
      units[i] = i;
    }
    Words words = new Words(pool);
    for (int last = total - 1; last > 0; last--) {
      int other = words.below(last + 1);
      int swapped = units[last];
      units[last] = units[other];
      units[other] = swapped;
    }
    return units;
  }

  /** SHA-256 in counter mode, read as 64-bit words. */
  private final class Words {
    private final MessageDigest digest = Sha256.digest();
    private final ByteBuffer suffix = ByteBuffer.allocate(16);
    private ByteBuffer block = ByteBuffer.allocate(0);
    private long counter;

    Words(PoolId pool) {
      suffix.putLong(0, pool.value());
    }

    int below(int bound) {
      while (true) {
        long word = next() & Long.MAX_VALUE;
        long result = word % bound;
        // Overflows to negative if the word lies in the last, incomplete run of the bound.
        if (word - result + (bound - 1) >= 0) {
          return (int) result;
        }
      }
    }

    private long next() {
      if (!block.hasRemaining()) {
        suffix.putLong(8, counter++);
        digest.update(seed);
        block = ByteBuffer.wrap(digest.digest(suffix.array()), 0, WORDS_PER_DIGEST * Long.BYTES);
      }
      return block.getLong();
    }
  }
}
