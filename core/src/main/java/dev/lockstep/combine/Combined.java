package dev.lockstep.combine;

import dev.lockstep.tx.Exchange;
import dev.lockstep.tx.Verdict;
import java.sql.SQLException;
import java.util.List;

/**
 * A contended write, in the three steps that make it batchable: lock the rows in the global order,
 * decide every request in memory, write all results in bulk.
 *
 * <p>The {@link Exchange} is the transaction's connection for whoever wants just that; an operation
 * that locks in its first trip and writes in its last crosses the network twice in all.
 *
 * <p>The same steps serve a batch of five hundred in the combiner's transaction and a batch of one
 * on a caller's connection.
 *
 * @param <K> what contends: requests of one key are decided together and in order
 * @param <Q> a request
 * @param <S> what the locked rows said
 * @param <P> the plan: what to write, and the answers
 * @param <A> an answer
 */
public interface Combined<K, Q, S, P, A> {

  /** Locks and reads what the requests need. May write nothing that a decision depends on. */
  S lock(Exchange exchange, K key, List<Q> requests) throws SQLException;

  /** Decides every request, in order. A pure function: no clock, no randomness, no database. */
  P decide(K key, S state, List<Q> requests);

  /** Writes the plan with a handful of statements, however many requests there were. */
  void write(Exchange exchange, K key, P plan) throws SQLException;

  /** One answer per request, in the order of the requests, each with what it rests on. */
  List<Verdict<A>> answers(P plan);

  /**
   * The plan is committed, and no other of its key is under way here. Not called on the caller's
   * connection, where nobody can tell.
   */
  default void committed(K key, P plan) {}

  /** By what the plan can be recognised if the connection is lost during its COMMIT. */
  Trace trace(K key, P plan);
}
