package dev.lockstep.server.stream;

import dev.lockstep.outbox.SinkHealth;
import dev.lockstep.outbox.SinkLag;
import dev.lockstep.outbox.StreamView;
import java.util.List;

/** Told, again and again, how streams are. Called by one thread at a time; must not block. */
public interface StreamListener {
  /**
   * Which streams there are, with their sinks: about each second, and right after a change here.
   */
  default void onStreams(List<StreamView> streams) {}

  /**
   * How far each sink is behind, over all nodes: every few seconds.
   *
   * @param health the sinks as this node finds them
   * @param partitions how many partitions this node relays
   */
  default void onLags(List<SinkLag> lags, List<SinkHealth> health, int partitions) {}
}
