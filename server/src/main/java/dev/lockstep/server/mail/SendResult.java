package dev.lockstep.server.mail;

/** What came of sending a mail. */
public sealed interface SendResult {
  /** The server has it. */
  record Sent() implements SendResult {}

  /** The server will never take it as it is. */
  record Rejected(String reason) implements SendResult {}

  /** Not now: not reached, not in time, put off. It may have been sent. */
  record Failed(String reason) implements SendResult {}
}
