package dev.lockstep.server.stream;

import dev.lockstep.outbox.SinkHealth;
import dev.lockstep.outbox.SinkLag;
import dev.lockstep.outbox.StreamView;
import java.util.List;

/**
 * Receives the state of the streams periodically. Called by one thread at a time; must not block.
 */
public interface StreamListener {
  /** The streams and their sinks: about every second, and right after a change here. */
  default void onStreams(List<StreamView> streams) {}

  /**
   * The lag of each sink over all nodes, every few seconds.
   *
   * @param health the sinks as this node finds them
   * @param partitions how many partitions this node relays
   */
  default void onLags(List<SinkLag> lags, List<SinkHealth> health, int partitions) {}
}
