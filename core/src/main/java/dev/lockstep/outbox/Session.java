package dev.lockstep.outbox;

import java.util.List;
import java.util.concurrent.CompletionStage;

/** A sink's conversation about one partition, under one lease. */
public interface Session extends AutoCloseable {

  /**
   * Sends events, in this order for each key. Called by a thread that may block. Batches come one
   * at a time, the next after this one's result; single events (see {@link Sink#maxInFlight}) also
   * beside each other.
   *
   * <p>Once an event of a key was not delivered, no later one of that key may be.
   *
   * @return a result for each event, in their order. A stage that fails, or takes too long, means
   *     that the sink is down
   */
  CompletionStage<List<SinkResult>> deliver(List<Event> events);

  /** Must not wait for long; what is still under way may be left to its fate. */
  @Override
  void close();
}
