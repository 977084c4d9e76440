package dev.lockstep.server.outgoing;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** How a receiver is told that a request is ours. */
public enum SignatureKind {
  /** As Standard Webhooks has it: id, time and body are signed. */
  STANDARD,
  /** As before there was a choice, {@code Lockstep-Signature}: time and body are signed. */
  LOCKSTEP;

  /** As it is written in JSON. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Optional<SignatureKind> of(String text) {
    return Arrays.stream(values()).filter(one -> one.toString().equals(text)).findFirst();
  }

  /** All of them, as they are written. */
  public static String[] texts() {
    return Arrays.stream(values()).map(SignatureKind::toString).toArray(String[]::new);
  }
}
