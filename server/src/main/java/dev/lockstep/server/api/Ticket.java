package dev.lockstep.server.api;

import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.OnceKey;
import org.jspecify.annotations.Nullable;

/**
 * A request on its way through a combiner with its idempotency key. {@link KeyedAnswers} leaves the
 * answer in it before the transaction commits; it is read after.
 *
 * @param <T> what the request is about
 */
public final class Ticket<T> {
  private final T subject;
  private final OnceKey key;
  private final Fingerprint fingerprint;
  private volatile @Nullable Answer answer;

  public Ticket(T subject, OnceKey key, Fingerprint fingerprint) {
    this.subject = subject;
    this.key = key;
    this.fingerprint = fingerprint;
  }

  public T subject() {
    return subject;
  }

  OnceKey key() {
    return key;
  }

  Fingerprint fingerprint() {
    return fingerprint;
  }

  /** Written again when the transaction is tried again; the last one is the one that committed. */
  void answer(Answer given) {
    answer = given;
  }

  @Nullable Answer answer() {
    return answer;
  }
}
