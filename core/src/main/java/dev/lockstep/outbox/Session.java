package dev.lockstep.outbox;

import java.util.List;
import java.util.concurrent.CompletionStage;

/** A sink's session for one partition, under one lease. */
public interface Session extends AutoCloseable {

  /**
   * Sends events; each key's events must keep this order. Called by a thread that may block.
   * Batches come one at a time, each after the previous result; single events (see {@link
   * Sink#maxInFlight}) may come concurrently.
   *
   * <p>After an undelivered event, no later event of its key may be delivered.
   *
   * @return one result per event, in their order. A stage that fails or takes too long means that
   *     the sink is down
   */
  CompletionStage<List<SinkResult>> deliver(List<Event> events);

  /**
   * Closes the session; called once. Must not wait for long; deliveries under way may be abandoned.
   */
  @Override
  void close();
}
