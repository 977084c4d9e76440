package dev.lockstep.outbox;

import dev.lockstep.outbox.CursorTable.CursorRow;
import dev.lockstep.outbox.CursorTable.Write;
import dev.lockstep.outbox.EventSource.ReadRequest;
import dev.lockstep.outbox.DeliveryCursor.Progress;
import dev.lockstep.outbox.OwnedSink.OpenSession;
import dev.lockstep.shard.Lease;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A lane with its lease and its session. Used by the relay's thread. */
final class SinkPartition {
  final Lease lease;
  final SinkRunner runner;
  final DeliveryCursor lane;
  private final int cursorVersion;
  private @Nullable OpenSession session;
  private boolean opening;
  private boolean abandoned;

  /** The count of operators' actions it has seen. */
  final long orders;

  /** Its partition is being handed over: begins nothing more. */
  boolean leaving;

  /** Its stored state was changed: begins nothing more, and is loaded again. */
  boolean again;

  /** Its positions are invalid on this server: loaded again, and none of it is written. */
  boolean stale;

  // Its cursor is locked: the progress is not written, and retried at this time.
  private boolean held;
  private long heldUntilNanos;

  SinkPartition(Lease lease, SinkRunner runner, CursorRow loaded, RelayConfig config) {
    this.lease = lease;
    this.runner = runner;
    this.cursorVersion = loaded.version();
    this.orders = loaded.orders();
    this.lane =
        new DeliveryCursor(config, runner.maxInFlight(), loaded.at(), loaded.delivered(), loaded.blocked());
  }

  /** Also true while its sink is down: what accumulates by then is tried together. */
  boolean mayRead() {
    return !isEnding() && lease.isLive();
  }

  boolean isToBeRead() {
    return again || stale;
  }

  boolean isEnding() {
    return leaving || isToBeRead();
  }

  boolean mayBegin(long nowNanos) {
    return mayRead() && !runner.breaker.isOpen(nowNanos);
  }

  /** Whether no delivery is under way and no write waits for a lock. */
  boolean isQuiet() {
    return !opening && lane.inFlight() == 0 && (!held || stale);
  }

  boolean isHeld() {
    return held;
  }

  void hold(long untilNanos) {
    held = true;
    heldUntilNanos = untilNanos;
  }

  void wrote(Progress progress, Map<String, Integer> versions) {
    held = false;
    lane.wrote(progress, versions);
  }

  /** Whether there is progress to write now. */
  boolean isToWrite(long nowNanos, boolean due, boolean evenIfIdle) {
    if (stale || (held && nowNanos - heldUntilNanos < 0)) {
      return false;
    }
    if (held) {
      return true;
    }
    return isEnding() ? lane.hasProgress(true) : due && lane.hasProgress(evenIfIdle);
  }

  /** Time until a write held up by a lock is retried. */
  long heldNanos(long nowNanos) {
    return held && !stale ? Math.max(0, heldUntilNanos - nowNanos) : Long.MAX_VALUE;
  }

  ReadRequest ask() {
    return new ReadRequest((short) lease.shard(), runner.row.streamId(), runner.row.stream(), lane.read());
  }

  Write write() {
    return new Write(lease, runner.row.id(), cursorVersion, lane.progress());
  }

  @Nullable OpenSession session() {
    return session;
  }

  boolean beginOpening() {
    boolean begin = session == null && !opening;
    opening = opening || begin;
    return begin;
  }

  void opened(@Nullable OpenSession fresh) {
    opening = false;
    session = fresh;
    if (abandoned) {
      closeSession();
    }
  }

  /** Closes its session, now or when it opens: nobody uses this place any more. */
  void abandon() {
    abandoned = true;
    closeSession();
  }

  /** Gives the session to another place. */
  @Nullable OpenSession takeSession() {
    OpenSession taken = session;
    session = null;
    return taken;
  }

  void closeSession() {
    var unused = sessionClosed();
  }

  /** Closes the session, if any; completes when it is closed. */
  CompletableFuture<?> sessionClosed() {
    OpenSession old = takeSession();
    return old == null ? CompletableFuture.completedFuture(null) : old.close();
  }
}
