package dev.lockstep.server.edge;

/**
 * How much memory strangers may occupy: bodies in flight and answers that nobody reads. An address
 * means an IPv4 address or the first 64 bits of an IPv6 address.
 *
 * @param bodies bytes of all bodies in flight; default an eighth of the heap
 * @param bodiesPerAddress of these from one address; default a quarter of {@code bodies}
 * @param unsent bytes of all unsent answers; default an eighth of the heap
 * @param unsentPerAddress of these to one address; default a quarter of {@code unsent}
 */
public record MemoryLimits(long bodies, long bodiesPerAddress, long unsent, long unsentPerAddress) {
  /** The minimum that holds one full page as an answer, or one body of many events. */
  public static final long MIN_BYTES = 1024 * 1024;

  /** The default for a heap too small to spare an eighth. */
  private static final long SMALL = 16 * MIN_BYTES;

  private static final int PART_OF_HEAP = 8;
  private static final int PART_PER_ADDRESS = 4;

  public static final MemoryLimits DEFAULT = ofHeap(Runtime.getRuntime().maxMemory());

  public MemoryLimits {
    within("bodies", bodies, "bodiesPerAddress", bodiesPerAddress);
    within("unsent", unsent, "unsentPerAddress", unsentPerAddress);
  }

  /** The defaults for a heap of this size. */
  static MemoryLimits ofHeap(long heapBytes) {
    long share = Math.max(SMALL, heapBytes / PART_OF_HEAP);
    return new MemoryLimits(share, share / PART_PER_ADDRESS, share, share / PART_PER_ADDRESS);
  }

  public MemoryLimits withBodies(long total, long perAddress) {
    return new MemoryLimits(total, perAddress, unsent, unsentPerAddress);
  }

  public MemoryLimits withUnsent(long total, long perAddress) {
    return new MemoryLimits(bodies, bodiesPerAddress, total, perAddress);
  }

  private static void within(String whole, long all, String part, long some) {
    if (some < MIN_BYTES || some > all) {
      throw new IllegalArgumentException(
          "%s must be at least %d and at most %s, which is %d, not %d"
              .formatted(part, MIN_BYTES, whole, all, some));
    }
  }
}
