package dev.lockstep.hold;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;

/** 64 bits of SHA-256 over who asks for what: the same request has the same in every process. */
final class Fingerprint {
  private Fingerprint() {}

  static long of(BuyerId buyer, List<Line> lines) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(buyer.value().getBytes(StandardCharsets.UTF_8));
      for (Line line : lines) {
        ByteBuffer bytes = ByteBuffer.allocate(16 + 4 * line.units().size());
        // The leading zero byte cannot be part of a buyer's name, so the two never run together.
        bytes.putInt(0).putLong(line.pool().value()).putInt(line.quantity());
        line.units().stream().sorted().forEach(bytes::putInt);
        digest.update(bytes.array());
      }
      return ByteBuffer.wrap(digest.digest()).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java platform has SHA-256", e);
    }
  }
}
