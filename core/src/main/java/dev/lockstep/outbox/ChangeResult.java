package dev.lockstep.outbox;

/** What came of an operator's order, in this precedence. */
public sealed interface ChangeResult {
  /** Done, when the caller commits. */
  record Changed() implements ChangeResult {}

  /** There is no such stream, or it has no such sink. */
  record UnknownSink() implements ChangeResult {}

  /** The stream has no event of the key, or never had. */
  record UnknownKey() implements ChangeResult {}

  /** The key is not parked; nothing was to be done. */
  record NotParked() implements ChangeResult {}

  /**
   * Another event is the one to be sent next.
   *
   * @param seq its sequence
   */
  record OtherSeq(long seq) implements ChangeResult {}

  /**
   * Events from there on are not all kept any more.
   *
   * @param oldestSeq the first that is
   */
  record NotKept(long oldestSeq) implements ChangeResult {}
}
