package dev.lockstep.combine;

import dev.lockstep.sql.AttemptResult;
import dev.lockstep.sql.Exchange;
import java.sql.SQLException;
import java.util.List;

/**
 * A contended write in three batchable steps: lock the rows in the global order, decide every
 * request in memory, write all results in bulk.
 *
 * <p>An {@link Exchange} also gives plain access to the connection. An operation that locks in its
 * first trip and writes in its last takes two round trips in total.
 *
 * <p>The same steps serve a batch of five hundred in the combiner's transaction and a batch of one
 * on the caller's connection.
 *
 * @param <K> what contends: requests of one key are decided together and in order
 * @param <Q> a request
 * @param <S> the state read from the locked rows
 * @param <P> the plan: what to write, and the answers
 * @param <A> an answer
 */
public interface Combined<K, Q, S, P, A> {

  /** Locks and reads what the requests need. Must not write anything that a decision depends on. */
  S lock(Exchange exchange, K key, List<Q> requests) throws SQLException;

  /**
   * Adds to the state what the requests' own code says, once their key is locked. Unlike {@link
   * #lock}, a failure here may be the fault of one request, which then fails alone.
   */
  default S consult(Exchange exchange, K key, S state, List<Q> requests) throws SQLException {
    return state;
  }

  /** Decides every request, in order. A pure function: no clock, no randomness, no database. */
  P decide(K key, S state, List<Q> requests);

  /** Writes the plan with a handful of statements, regardless of the number of requests. */
  void write(Exchange exchange, K key, P plan) throws SQLException;

  /** One answer per request, in the order of the requests, each marked final or conditional. */
  List<AttemptResult<A>> answers(P plan);

  /**
   * Called after the plan committed, while no other plan of its key runs in this process. Not
   * called on the caller's connection, where the combiner does not see the commit.
   */
  default void committed(K key, P plan) {}

  /** How to recognise the plan if the connection is lost during COMMIT. */
  Trace trace(K key, P plan);
}
