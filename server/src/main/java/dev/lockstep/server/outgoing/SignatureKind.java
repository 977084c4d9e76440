package dev.lockstep.server.outgoing;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** The kind of signature that proves a request is ours. */
public enum SignatureKind {
  /** Standard Webhooks: signs id, time and body. */
  STANDARD,
  /** The older {@code Lockstep-Signature}: signs time and body. */
  LOCKSTEP;

  /** The form in JSON. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Optional<SignatureKind> of(String text) {
    return Arrays.stream(values()).filter(one -> one.toString().equals(text)).findFirst();
  }

  /** All kinds in their JSON form. */
  public static String[] texts() {
    return Arrays.stream(values()).map(SignatureKind::toString).toArray(String[]::new);
  }
}
