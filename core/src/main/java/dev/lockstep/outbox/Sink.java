package dev.lockstep.outbox;

/**
 * Where the events of a stream go: a topic, an address, a log. One for each sink and node; thread
 * safe.
 *
 * <p>For each partition of the keys that the node owns it is asked for a {@link Session}, whose
 * calls come one at a time. A session is opened before the first delivery under a lease, and anew
 * after a failure. After opening the relay asks the database whether the lease still holds, before
 * it delivers anything: a sink that fences ({@code initTransactions} of Kafka) does so in {@link
 * #open}, and whoever lost the lease meanwhile finds out before sending.
 */
public interface Sink extends AutoCloseable {

  /**
   * How many events of one partition may be on their way at a time.
   *
   * @return 0: batches, in which a key may occur often; the session keeps their order. More: each
   *     event by itself, never two of one key
   */
  int maxInFlight();

  /**
   * Called by a thread that may block.
   *
   * @throws Exception the sink is down; tried again later
   */
  Session open(Tenure tenure) throws Exception;

  /** When the relay ends, or the sink's definition has changed. After all its sessions. */
  @Override
  void close();
}
