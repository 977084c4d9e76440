package dev.lockstep.server.page;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

final class Sha256 {
  private Sha256() {}

  static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java platform has SHA-256", e);
    }
  }

  static byte[] of(byte[] content) {
    return digest().digest(content);
  }
}
