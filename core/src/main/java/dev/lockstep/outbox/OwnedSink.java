package dev.lockstep.outbox;

import dev.lockstep.outbox.Streams.SinkRow;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Owns a sink and its sessions. Closes every session exactly once, and the sink exactly once after
 * all of them, even if the sink is made or a session opens only after {@link #retire}. Thread-safe.
 */
final class OwnedSink {
  private static final Logger log = LoggerFactory.getLogger(OwnedSink.class);

  private final SinkRow row;
  private final SinkCalls calls;
  private final CompletableFuture<Boolean> ended = new CompletableFuture<>();
  // All guarded by this. Counts what keeps the sink open: its making, and each session that opens,
  // is open or is being closed. Once retired it only falls, so it reaches 0 once.
  private int uses = 1;
  // The uses that wait for a call of the sink to return: its making, and sessions that open.
  private int pending = 1;
  private final Set<OpenSession> sessions = new HashSet<>();
  private @Nullable Sink sink;
  private boolean retired;

  OwnedSink(SinkRow row, SinkCalls calls) {
    this.row = row;
    this.calls = calls;
  }

  /** An open session: one per {@link Sink#open}, even if the sink returns the same object. */
  final class OpenSession {
    private final Session session;

    private OpenSession(Session session) {
      this.session = session;
    }

    Session session() {
      return session;
    }

    /** Closes the session, once. Completes in bounded time, whatever the sink does. */
    CompletableFuture<Boolean> close() {
      synchronized (OwnedSink.this) {
        if (!sessions.remove(this)) {
          return CompletableFuture.completedFuture(true);
        }
      }
      return closing(session::close, OwnedSink.this::unused);
    }
  }

  synchronized boolean isRetired() {
    return retired;
  }

  /** Makes the sink. Called once; the sink counts as in use until then. */
  Sink make(SinkTypes types) throws Exception {
    synchronized (this) {
      if (retired) {
        throw new IllegalStateException("The sink was removed before it was made");
      }
    }
    @Nullable Sink made = types.create(row.stream(), row.spec());
    if (made == null) {
      throw new IllegalStateException("The sink's type returned no sink");
    }
    synchronized (this) {
      sink = made;
    }
    return made;
  }

  /** Called once making the sink has succeeded or failed. */
  void made() {
    synchronized (this) {
      pending--;
    }
    unused();
  }

  OpenSession open(SessionLease lease) throws Exception {
    Sink opening;
    synchronized (this) {
      if (retired || sink == null) {
        throw new IllegalStateException("The sink is closed");
      }
      opening = sink;
      uses++;
      pending++;
    }
    OpenSession open;
    try {
      @Nullable Session session = opening.open(lease);
      if (session == null) {
        throw new IllegalStateException("The sink opened no session");
      }
      open = new OpenSession(session);
    } catch (Throwable e) {
      synchronized (this) {
        pending--;
      }
      unused();
      throw e;
    }
    boolean late;
    synchronized (this) {
      sessions.add(open);
      pending--;
      late = retired;
    }
    if (late) {
      var unused = open.close();
      throw new IllegalStateException("The sink was closed while its session opened");
    }
    return open;
  }

  /**
   * Opens no more, closes all sessions and then the sink.
   *
   * @return completes when all that can be closed now is closed; does not wait for calls that have
   *     not returned
   */
  CompletableFuture<?> retire() {
    List<OpenSession> open;
    boolean last;
    boolean all;
    synchronized (this) {
      open = List.copyOf(sessions);
      last = !retired && uses == 0;
      all = pending == 0;
      retired = true;
    }
    if (last) {
      closeSink();
    }
    List<CompletableFuture<?>> closed = new ArrayList<>();
    open.forEach(session -> closed.add(session.close()));
    if (all) {
      closed.add(ended);
    }
    return CompletableFuture.allOf(closed.toArray(CompletableFuture[]::new));
  }

  private void unused() {
    boolean last;
    synchronized (this) {
      uses--;
      last = retired && uses == 0;
    }
    if (last) {
      closeSink();
    }
  }

  private void closeSink() {
    Sink old;
    synchronized (this) {
      old = sink;
    }
    if (old == null) {
      ended.complete(true);
    } else {
      var unused = closing(old::close, () -> ended.complete(true));
    }
  }

  private CompletableFuture<Boolean> closing(Runnable close, Runnable afterwards) {
    CompletableFuture<Boolean> call = calls.always(close);
    CompletableFuture<Boolean> closed =
        calls
            .inTime(call.copy(), call)
            .exceptionally(
                e -> {
                  log.warn(
                      "Closing sink {} of stream {} failed", row.spec().name(), row.stream(), e);
                  return false;
                });
    var unused = call.whenComplete((done, failure) -> afterwards.run());
    return closed;
  }
}
