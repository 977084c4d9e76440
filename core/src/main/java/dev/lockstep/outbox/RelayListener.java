package dev.lockstep.outbox;

/**
 * Observes deliveries and cursor writes, for metrics. Called on the relay's thread once per
 * delivery and per batch of cursors, so it must be quick. Exceptions are logged and change nothing.
 */
public interface RelayListener {
  /** Does nothing. */
  RelayListener NONE = new RelayListener() {};

  /**
   * Called when a sink has answered or timed out.
   *
   * @param delivered events it has accepted
   * @param failed events it has not; unsent events are in neither number
   */
  default void onDelivery(String stream, String sink, int delivered, int failed) {}

  /**
   * Called after cursors were written.
   *
   * @param accepted how many
   * @param stale how many were refused: another node owns the partition, or an operator moved the
   *     cursor
   */
  default void onCursors(int accepted, int stale) {}
}
