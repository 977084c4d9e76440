package dev.lockstep.server.payment;

import java.time.Duration;

/** Whether a webhook is to be believed. In the order in which it is found out. */
public sealed interface Verification {

  /** No signature that could be checked, or no event in what was signed. */
  record Malformed(String why) implements Verification {}

  /** Signed by somebody who does not know the secret, or changed on its way. */
  record Forged() implements Verification {}

  /** Genuine once, and perhaps sent again by somebody else. */
  record TooOld(Duration age) implements Verification {}

  /** A clock is wrong, theirs or ours. */
  record FromTheFuture(Duration ahead) implements Verification {}

  record Genuine(PaymentEvent event) implements Verification {}
}
