package dev.lockstep.outbox;

/** The result of an operator's action. Refusals take precedence in the order listed. */
public sealed interface SinkActionResult {
  /** Done, once the caller commits. */
  record Changed() implements SinkActionResult {}

  /** There is no such stream, or it has no such sink. */
  record UnknownSink() implements SinkActionResult {}

  /** No event of the key from this sequence on is kept. */
  record UnknownKey() implements SinkActionResult {}

  /** The key is neither parked nor waiting; nothing to do. */
  record NotParked() implements SinkActionResult {}

  /**
   * Another event is next to be sent.
   *
   * @param seq its sequence
   */
  record OtherSeq(long seq) implements SinkActionResult {}

  /**
   * Some events from this sequence on are no longer kept.
   *
   * @param oldestSeq the first that is
   */
  record EventsDropped(long oldestSeq) implements SinkActionResult {}
}
