package dev.lockstep.outbox;

/**
 * Hears what a relay sends and writes. Called on the relay's thread, once for each delivery and
 * each batch of cursors, so it must be quick; what it throws is logged and changes nothing.
 */
public interface RelayListener {
  /** Hears nothing. */
  RelayListener NONE = new RelayListener() {};

  /**
   * A sink has answered, or was given up on.
   *
   * @param delivered events that it has for good
   * @param failed events that it has not; those that were not sent at all are in neither number
   */
  default void onDelivery(String stream, String sink, int delivered, int failed) {}

  /**
   * Cursors were written.
   *
   * @param accepted how many
   * @param stale those that were refused: the partition is another node's, or an operator has moved
   *     the cursor
   */
  default void onCursors(int accepted, int stale) {}
}
