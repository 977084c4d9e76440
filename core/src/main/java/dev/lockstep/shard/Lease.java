package dev.lockstep.shard;

import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A node's ownership of one shard, from taking it to giving it up or losing it.
 *
 * <p>Whatever is written because the shard is owned must be fenced: have {@link #FENCE} among the
 * conditions of the statement, or {@link #holdUntilCommit} before it. Rows that are missing from
 * the count then say that the lease is over and that nothing was written. The fence locks the
 * shard's row until the transaction ends, so that the next owner starts after it, never beside it.
 *
 * <p>Thread-safe. Never commits.
 */
public final class Lease {
  /**
   * A condition that holds while the lease does. Put it last, and bind {@link #fenced}. The share
   * lock waits for a change of owner that is under way, and then sees it.
   */
  public static final String FENCE =
      """
      EXISTS (SELECT 1 FROM lockstep.shard f
              WHERE f.shard = ? AND f.shard_group = ? AND f.epoch = ? FOR SHARE)""";

  private static final String HOLD =
      """
      SELECT 1 FROM lockstep.shard
      WHERE shard = ? AND shard_group = ? AND epoch = ? FOR SHARE""";

  private static final String HELD =
      "SELECT 1 FROM lockstep.shard WHERE shard = ? AND shard_group = ? AND epoch = ?";

  private final Term term;
  private final String group;
  private final int shard;
  private final long epoch;
  private final boolean handedOver;
  private final CompletableFuture<Void> over = new CompletableFuture<>();

  Lease(Term term, String group, int shard, long epoch, boolean handedOver) {
    this.term = term;
    this.group = group;
    this.shard = shard;
    this.epoch = epoch;
    this.handedOver = handedOver;
  }

  public int shard() {
    return shard;
  }

  public long epoch() {
    return epoch;
  }

  /**
   * True if the owner before finished what it had begun, or there was none. False: it was cut off,
   * and what it had in hand may be half done.
   */
  public boolean handedOver() {
    return handedOver;
  }

  /**
   * Whether there is any point in beginning something: false once the lease is known to be over, or
   * the last heartbeat that got through is so long ago that it may be. A hint, on this process's
   * monotonic clock; the fence decides.
   */
  public boolean isLive() {
    return !over.isDone() && term.isLive();
  }

  /** Ends when the lease is known to be over: given up, or lost. Changes nothing when completed. */
  public CompletionStage<Void> over() {
    return over.minimalCompletionStage();
  }

  /** The parameters of a statement that ends with {@link #FENCE}: its own, then the fence's. */
  public Object[] fenced(Object... own) {
    Object[] all = Arrays.copyOf(own, own.length + 3);
    all[own.length] = (short) shard;
    all[own.length + 1] = group;
    all[own.length + 2] = epoch;
    return all;
  }

  /** The node, for as long as it is a member. */
  public UUID member() {
    return term.member();
  }

  /** As {@link #isLive}, of the node's membership instead of the shard. */
  public boolean isMemberLive() {
    return term.isLive();
  }

  /**
   * Adds what bounds the time for which a fence can hold up the next owner: should this process
   * stop between the fence and COMMIT, the server ends its session after the Transactor's idle
   * timeout, or a lease if that is shorter. For the round trip that contains the fence, before it;
   * also on a connection of the caller's, which has no bound of its own.
   */
  public void bound(RoundTrip trip) {
    trip.update("SET LOCAL idle_in_transaction_session_timeout = " + term.idleTimeout().toMillis());
  }

  /**
   * Fences the rest of the caller's transaction.
   *
   * @return false if the lease is over: roll back
   */
  public boolean holdUntilCommit(Connection connection) throws SQLException {
    if (connection.getAutoCommit()) {
      throw new IllegalStateException(
          "In auto-commit mode the fence would be gone at once; begin a transaction first");
    }
    RoundTrip trip = new RoundTrip(connection);
    bound(trip);
    Rows<Boolean> held = trip.query(HOLD, row -> true, fenced());
    trip.send();
    return !held.list().isEmpty();
  }

  /**
   * Adds the question whether the lease holds, for who was refused something and wants to know why.
   * No row: it is over, and never holds again.
   */
  public Rows<Boolean> askIfHeld(RoundTrip trip) {
    return trip.query(HELD, row -> true, fenced());
  }

  /**
   * Whether the lease is known to be over. The node may have the shard again by then, by another.
   */
  public boolean isOver() {
    return over.isDone();
  }

  void end() {
    over.complete(null);
  }

  @Override
  public String toString() {
    return "%s/%d@%d".formatted(group, shard, epoch);
  }
}
