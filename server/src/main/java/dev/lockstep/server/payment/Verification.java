package dev.lockstep.server.payment;

import java.time.Duration;

/** Whether a webhook is genuine. Ordered like the checks. */
public sealed interface Verification {

  /** No usable signature, or the signed content is not an event. */
  record Malformed(String why) implements Verification {}

  /** Signed without the secret, or changed in transit. */
  record Forged() implements Verification {}

  /** Once genuine, and possibly replayed. */
  record TooOld(Duration age) implements Verification {}

  /** A clock is wrong, theirs or ours. */
  record FromTheFuture(Duration ahead) implements Verification {}

  record Genuine(PaymentEvent event) implements Verification {}
}
