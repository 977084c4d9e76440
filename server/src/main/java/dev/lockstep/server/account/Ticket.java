package dev.lockstep.server.account;

import dev.lockstep.ledger.BookId;
import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.OnceKey;
import dev.lockstep.server.api.Answer;
import org.jspecify.annotations.Nullable;

/**
 * A transfer on its way through the combiner with its idempotency key. The companion leaves the
 * answer in it before the transaction commits; it is read after.
 */
final class Ticket {
  final BookId book;
  final OnceKey key;
  final Fingerprint fingerprint;
  private volatile @Nullable Answer answer;

  Ticket(BookId book, OnceKey key, Fingerprint fingerprint) {
    this.book = book;
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
