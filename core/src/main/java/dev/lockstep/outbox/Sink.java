package dev.lockstep.outbox;

/**
 * The destination of a stream's events: a topic, an address, a log. One instance per sink and node;
 * thread-safe.
 *
 * <p>The relay opens one {@link Session} per partition that the node owns: before the first
 * delivery under a lease, and again after a failure. After opening, and before delivering, the
 * relay checks that the lease still holds. A sink that fences (Kafka's {@code initTransactions})
 * does so in {@link #open}; so a node that lost the lease meanwhile finds out before it sends.
 */
public interface Sink extends AutoCloseable {

  /**
   * How many events of one partition may be under way at a time.
   *
   * @return 0: batches, in which a key may occur often; the session keeps their order. More: single
   *     events, never two of one key at a time
   */
  int maxInFlight();

  /**
   * Opens a session. Called by a thread that may block.
   *
   * @throws Exception the sink is down; retried later
   */
  Session open(SessionLease lease) throws Exception;

  /**
   * Called once, when the relay has ended or the sink's definition has changed, after all sessions
   * are closed; even if the last of them opens only then.
   */
  @Override
  void close();
}
