package dev.lockstep.server.delivery;

import java.util.Base64;

/**
 * The secret that signs requests to one receiver.
 *
 * @param key the raw bytes
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ReceiverSecret(byte[] key) {
  private static final String MARK = "whsec_";

  /** The form that Standard Webhooks libraries take. */
  String standardText() {
    return MARK + Base64.getEncoder().encodeToString(key);
  }

  /** The form for receivers of {@code Lockstep-Signature}: this text itself is the key. */
  String lockstepText() {
    return MARK + Base64.getUrlEncoder().withoutPadding().encodeToString(key);
  }

  @Override
  public String toString() {
    return MARK + "…";
  }
}
