package dev.lockstep.server.api;

/**
 * The size limits of request bodies.
 *
 * @param bytes an ordinary body; default 64 KiB
 * @param largeBytes a body that carries many things; default 1 MiB
 */
public record BodyLimits(int bytes, int largeBytes) {
  private static final int MIN_BYTES = 1_024;
  private static final int MAX_BYTES = 64 * 1024 * 1024;

  public static final BodyLimits DEFAULT = new BodyLimits(64 * 1024, 1024 * 1024);

  public BodyLimits {
    if (bytes < MIN_BYTES || largeBytes < bytes || largeBytes > MAX_BYTES) {
      throw new IllegalArgumentException(
          "bodies must have at least %d bytes, large ones as many as others and at most %d"
              .formatted(MIN_BYTES, MAX_BYTES));
    }
  }

  int of(Endpoint endpoint) {
    return endpoint.takesLargeBody() ? largeBytes : bytes;
  }
}
