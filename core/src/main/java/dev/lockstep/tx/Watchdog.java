package dev.lockstep.tx;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cuts a transaction's connection when its deadline passes, so that neither a chain of slow
 * statements nor a silent network holds a caller for ever.
 *
 * <p>The compare-and-set on {@link Stage} keeps the cut away from a connection that has already
 * gone back to its pool, and tells a cut before COMMIT (rolled back for certain) from one within
 * it.
 */
final class Watchdog {
  private static final Logger log = LoggerFactory.getLogger(Watchdog.class);

  private enum Stage {
    RUNNING,
    COMMITTING,
    FINISHED,
    CUT
  }

  private final Connection connection;
  private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.RUNNING);
  private final CompletableFuture<Void> alarm = new CompletableFuture<>();

  Watchdog(Connection connection, Deadline deadline) {
    this.connection = connection;
    alarm.completeOnTimeout(null, deadline.remaining().toNanos(), TimeUnit.NANOSECONDS);
    var unused = alarm.thenRun(this::cut);
  }

  /** False when the deadline came first: the connection is gone and COMMIT must not be sent. */
  boolean startCommit() {
    return stage.compareAndSet(Stage.RUNNING, Stage.COMMITTING);
  }

  boolean hasCut() {
    return stage.get() == Stage.CUT;
  }

  /** The connection may go back to its pool; the alarm is off. */
  void finish() {
    if (stage.getAndUpdate(s -> s == Stage.CUT ? s : Stage.FINISHED) != Stage.CUT) {
      alarm.cancel(false);
    }
  }

  private void cut() {
    boolean ours =
        stage.compareAndSet(Stage.RUNNING, Stage.CUT)
            || stage.compareAndSet(Stage.COMMITTING, Stage.CUT);
    if (ours) {
      try {
        // Abort closes the socket under a statement that is still running; nothing else does.
        connection.abort(Runnable::run);
      } catch (SQLException e) {
        log.warn("Could not cut a connection past its deadline", e);
      }
    }
  }
}
