package dev.lockstep.outbox;

/** The result of an operator's action. Refusals take precedence in the order listed. */
public sealed interface ChangeResult {
  /** Done, once the caller commits. */
  record Changed() implements ChangeResult {}

  /** There is no such stream, or it has no such sink. */
  record UnknownSink() implements ChangeResult {}

  /** No event of the key from this sequence on is kept. */
  record UnknownKey() implements ChangeResult {}

  /** The key is neither parked nor waiting; nothing to do. */
  record NotParked() implements ChangeResult {}

  /**
   * Another event is next to be sent.
   *
   * @param seq its sequence
   */
  record OtherSeq(long seq) implements ChangeResult {}

  /**
   * Some events from this sequence on are no longer kept.
   *
   * @param oldestSeq the first that is
   */
  record NotKept(long oldestSeq) implements ChangeResult {}
}
