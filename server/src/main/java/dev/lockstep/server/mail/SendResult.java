package dev.lockstep.server.mail;

/** The result of sending a mail. */
public sealed interface SendResult {
  /** The server accepted it. */
  record Sent() implements SendResult {}

  /** The server will never accept it as it is. */
  record Rejected(String reason) implements SendResult {}

  /** Failed for now: unreachable, too slow or deferred. It may have been sent. */
  record Failed(String reason) implements SendResult {}
}
