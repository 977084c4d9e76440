package dev.lockstep.server.cart;

import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.OnceKey;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.campaign.Campaign;
import org.jspecify.annotations.Nullable;

/**
 * A request to take a hold, on its way through the combiner with its idempotency key. The companion
 * leaves the answer in it before the transaction commits; it is read after.
 */
final class Ticket {
  final Campaign campaign;
  final OnceKey key;
  final Fingerprint fingerprint;
  private volatile @Nullable Answer answer;

  Ticket(Campaign campaign, OnceKey key, Fingerprint fingerprint) {
    this.campaign = campaign;
    this.key = key;
    this.fingerprint = fingerprint;
  }

  /** Written again when the transaction is tried again; the last one is the one that committed. */
  void answer(Answer given) {
    answer = given;
  }

  @Nullable Answer answer() {
    return answer;
  }
}
