package dev.lockstep.server.delivery;

import java.util.Base64;

/**
 * What requests to one receiver are signed with.
 *
 * @param key the bytes themselves
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ReceiverSecret(byte[] key) {
  private static final String MARK = "whsec_";

  /** As Standard Webhooks writes it: what its libraries take. */
  String standardText() {
    return MARK + Base64.getEncoder().encodeToString(key);
  }

  /** As receivers of {@code Lockstep-Signature} know it: this text itself is their key. */
  String lockstepText() {
    return MARK + Base64.getUrlEncoder().withoutPadding().encodeToString(key);
  }

  @Override
  public String toString() {
    return MARK + "…";
  }
}
