package dev.lockstep.shard;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A node's ownership of one shard, from taking it until it is given up or lost.
 *
 * <p>Every write made as the shard's owner must be fenced: put {@link #FENCE} among the statement's
 * conditions, or call {@link #holdUntilCommit} before it. Once the lease is over, a fenced
 * statement changes no row. The fence locks the shard's row until the transaction ends, so the next
 * owner starts after it, never beside it.
 *
 * <p>Thread-safe. Never commits.
 */
public final class Lease {
  /**
   * A condition that is true while the lease holds. Put it last and bind {@link #fenced}. Its share
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

  private final Membership membership;
  private final String group;
  private final int shard;
  private final long epoch;
  private final boolean handedOver;
  private final CompletableFuture<Void> over = new CompletableFuture<>();

  Lease(Membership membership, String group, int shard, long epoch, boolean handedOver) {
    this.membership = membership;
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
   * Returns whether the previous owner finished its work, or there was none. False: it was cut off,
   * and its work may be half done.
   */
  public boolean handedOver() {
    return handedOver;
  }

  /**
   * Whether it is worth beginning work. False once the lease is known to be over, or the last
   * successful heartbeat is so long ago that it may be. Only a hint, by this process's monotonic
   * clock; the fence decides.
   */
  public boolean isLive() {
    return !over.isDone() && membership.isLive();
  }

  /**
   * Completes when the lease is known to be over: given up or lost. Completing the stage has no
   * effect on the lease.
   */
  public CompletionStage<Void> over() {
    return over.minimalCompletionStage();
  }

  /**
   * Returns the parameters of a statement that ends with {@link #FENCE}: its own, then the fence's.
   */
  public Object[] fenced(Object... own) {
    Object[] all = Arrays.copyOf(own, own.length + 3);
    all[own.length] = (short) shard;
    all[own.length + 1] = group;
    all[own.length + 2] = epoch;
    return all;
  }

  /** Returns this node's member id, which changes when it joins again. */
  public UUID member() {
    return membership.member();
  }

  /** Like {@link #isLive}, for the node's membership instead of the shard. */
  public boolean isMemberLive() {
    return membership.isLive();
  }

  /**
   * Adds the setting that limits how long a fence can hold up the next owner. If this process
   * freezes between the fence and COMMIT, the server ends its session after the Transactor's idle
   * timeout, or after a lease if that is shorter. Add it to the round trip of the fence, before the
   * fence; also on a caller's connection, which has no such limit of its own.
   */
  public void bound(RoundTrip trip) {
    trip.update(
        "SET LOCAL idle_in_transaction_session_timeout = " + membership.idleTimeout().toMillis());
  }

  /**
   * Fences the rest of the caller's transaction.
   *
   * @return false if the lease is over: roll back
   */
  public boolean holdUntilCommit(Connection connection) throws SQLException {
    if (connection.getAutoCommit()) {
      throw new IllegalStateException(
          "In auto-commit mode a fence ends at once; begin a transaction first");
    }
    RoundTrip trip = new RoundTrip(connection);
    bound(trip);
    Rows<Boolean> held = trip.query(HOLD, row -> true, fenced());
    trip.send();
    return !held.list().isEmpty();
  }

  /**
   * Adds a query for whether the lease holds, to explain a refused write. No row: it is over for
   * good.
   */
  public Rows<Boolean> askIfHeld(RoundTrip trip) {
    return trip.query(HELD, row -> true, fenced());
  }

  /**
   * Whether the lease is known to be over. The node may own the shard again under a newer lease.
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
