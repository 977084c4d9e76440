package dev.lockstep.outbox;

import dev.lockstep.outbox.CursorTable.CursorRow;
import dev.lockstep.outbox.CursorTable.Write;
import dev.lockstep.outbox.EventSource.ReadRequest;
import dev.lockstep.outbox.OwnedSink.OpenSession;
import dev.lockstep.shard.Lease;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One sink in one partition that this node owns: its cursor, its session, and the lease that fences
 * both. {@link CursorLife} says what it may do. Used by the relay's thread.
 */
final class SinkPartition {
  final Lease lease;
  final SinkRunner runner;
  final DeliveryCursor cursor;
  final CursorLife life;

  /** How many operators' actions the loaded cursor has seen. */
  final long orders;

  private final int cursorVersion;
  // There is one while the life's session is OPEN.
  private @Nullable OpenSession session;
  private long lockedUntilNanos;

  SinkPartition(
      Lease lease,
      SinkRunner runner,
      CursorRow row,
      RelayConfig config,
      CursorLife.Observer observer) {
    this.lease = lease;
    this.runner = runner;
    this.cursorVersion = row.version();
    this.orders = row.orders();
    this.life = new CursorLife(row.at(), observer);
    this.cursor =
        new DeliveryCursor(
            life, config, runner.maxInFlight(), row.at(), row.delivered(), row.blocked());
  }

  /** Also true while its sink is down: what accumulates by then is tried together. */
  boolean mayRead() {
    return life.isActive() && lease.isLive();
  }

  boolean mayBegin(long nowNanos) {
    return mayRead() && !runner.breaker.isOpen(nowNanos);
  }

  /** Whether no delivery is under way and no write waits for a lock. */
  boolean isQuiet() {
    return !life.isOpening() && cursor.inFlight() == 0 && (!life.isLocked() || life.isStale());
  }

  /** Its write meets a lock: retried at this time. */
  void lockedUntil(long nanos) {
    life.locked();
    lockedUntilNanos = nanos;
  }

  /** Whether there is progress to write now. */
  boolean needsWrite(long nowNanos, boolean due, boolean evenIfIdle) {
    if (life.isStale()) {
      return false;
    }
    if (life.isLocked()) {
      return nowNanos - lockedUntilNanos >= 0;
    }
    return life.isActive() ? due && cursor.hasProgress(evenIfIdle) : cursor.hasProgress(true);
  }

  /** Time until a write that met a lock is retried. */
  long lockedNanos(long nowNanos) {
    return life.isLocked() && !life.isStale()
        ? Math.max(0, lockedUntilNanos - nowNanos)
        : Long.MAX_VALUE;
  }

  ReadRequest readRequest() {
    return new ReadRequest(
        (short) lease.shard(), runner.row.streamId(), runner.row.stream(), cursor.readFrom());
  }

  Write write() {
    return new Write(lease, runner.row.id(), cursorVersion, cursor.progress());
  }

  @Nullable OpenSession session() {
    return session;
  }

  /**
   * Opening its session has succeeded or failed.
   *
   * @param opened null if opening it failed
   */
  void opened(@Nullable OpenSession opened) {
    session = opened;
    if (opened == null) {
      life.sessionClosed();
    } else {
      life.sessionOpened();
      if (life.isEnded()) {
        closeSession();
      }
    }
  }

  /** Takes over the session of the same sink and partition, if that has one. */
  void takeOver(SinkPartition former) {
    session = former.takeSession();
    if (session != null) {
      life.sessionOpened();
    }
  }

  /** Nobody uses it any more. Closes its session, now or when it opens. */
  void end() {
    life.end();
    closeSession();
  }

  void closeSession() {
    var unused = sessionClosed();
  }

  /** Closes the session, if any; completes when it is closed. */
  CompletableFuture<?> sessionClosed() {
    OpenSession closing = takeSession();
    return closing == null ? CompletableFuture.completedFuture(null) : closing.close();
  }

  private @Nullable OpenSession takeSession() {
    OpenSession taken = session;
    if (taken != null) {
      session = null;
      life.sessionClosed();
    }
    return taken;
  }
}
