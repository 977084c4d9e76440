package dev.lockstep.outbox;

import dev.lockstep.outbox.CursorTable.Loaded;
import dev.lockstep.outbox.CursorTable.Write;
import dev.lockstep.outbox.EventSource.Ask;
import dev.lockstep.outbox.Lane.Progress;
import dev.lockstep.shard.Lease;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A lane with the lease it is under and the session it speaks to. Used by the relay's thread. */
final class Place {
  final Lease lease;
  final SinkRunner runner;
  final Lane lane;
  private final int cursorVersion;
  private @Nullable Session session;
  private boolean opening;

  /** The orders that it knows of. */
  final long orders;

  /** Its partition goes to somebody else: begins nothing more. */
  boolean leaving;

  /** Somebody has changed what is stored: begins nothing more, and is read again. */
  boolean again;

  /** What it knows means nothing on this server: the same, and nothing of it is written. */
  boolean stale;

  // Somebody has locked its cursor: what it has reached is not written, and tried again then.
  private boolean held;
  private long heldUntilNanos;

  Place(Lease lease, SinkRunner runner, Loaded loaded, RelayConfig config) {
    this.lease = lease;
    this.runner = runner;
    this.cursorVersion = loaded.version();
    this.orders = loaded.orders();
    this.lane =
        new Lane(config, runner.maxInFlight(), loaded.at(), loaded.delivered(), loaded.blocked());
  }

  /** Also while its sink is down: what is there by the time that is over is tried together. */
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

  /** Nothing of it is on its way, nor waits for somebody's lock to be written. */
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

  /** Whether there is something to write, and a chance that it can be written. */
  boolean isToWrite(long nowNanos, boolean due, boolean evenIfIdle) {
    if (stale || (held && nowNanos - heldUntilNanos < 0)) {
      return false;
    }
    if (held) {
      return true;
    }
    return isEnding() ? lane.hasProgress(true) : due && lane.hasProgress(evenIfIdle);
  }

  /** Until it is worth trying again to write what somebody's lock is in the way of. */
  long heldNanos(long nowNanos) {
    return held && !stale ? Math.max(0, heldUntilNanos - nowNanos) : Long.MAX_VALUE;
  }

  Ask ask() {
    return new Ask((short) lease.shard(), runner.row.streamId(), runner.row.stream(), lane.read());
  }

  Write write() {
    return new Write(lease, runner.row.id(), cursorVersion, lane.progress());
  }

  @Nullable Session session() {
    return session;
  }

  boolean beginOpening() {
    boolean begin = session == null && !opening;
    opening = opening || begin;
    return begin;
  }

  void opened(@Nullable Session fresh) {
    opening = false;
    session = fresh;
  }

  /** To be used by another place. */
  @Nullable Session takeSession() {
    Session taken = session;
    session = null;
    return taken;
  }

  void closeSession() {
    var unused = sessionClosed();
  }

  /** Closes the session, if there is one, and says when it is closed. */
  CompletableFuture<?> sessionClosed() {
    Session old = takeSession();
    return old == null ? CompletableFuture.completedFuture(null) : runner.closeSession(old);
  }
}
