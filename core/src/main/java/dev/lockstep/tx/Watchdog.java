package dev.lockstep.tx;

import java.sql.Connection;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cuts a connection when its deadline passes, so that neither a chain of slow statements nor a
 * silent network holds a caller for ever.
 *
 * <p>Every method holds the monitor, the cut included: once {@link #finish} has returned, the
 * connection is either cut for certain or never will be, and may go back to its pool.
 */
final class Watchdog {
  private static final Logger log = LoggerFactory.getLogger(Watchdog.class);

  private final Connection connection;
  private final Deadline deadline;
  private final Consumer<Watchdog> whenFinished;
  private boolean finished;
  private boolean cut;

  Watchdog(Connection connection, Deadline deadline, Consumer<Watchdog> whenFinished) {
    this.connection = connection;
    this.deadline = deadline;
    this.whenFinished = whenFinished;
  }

  Deadline deadline() {
    return deadline;
  }

  /** No two are equal. The JVM's own would be made for each, and looked up under the monitor. */
  @Override
  public int hashCode() {
    return Long.hashCode(deadline.atNanos());
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return this == other;
  }

  /** True once the deadline came first: the connection is gone, and so is its transaction. */
  synchronized boolean hasCut() {
    return cut;
  }

  /** The alarm is off. */
  synchronized void finish() {
    finished = true;
    whenFinished.accept(this);
  }

  /** The deadline has passed. */
  synchronized void cut() {
    if (finished || cut) {
      return;
    }
    cut = true;
    try {
      // Abort closes the socket under a statement that is still running; nothing else does.
      connection.abort(Runnable::run);
    } catch (Throwable e) {
      log.warn("Could not cut a connection past its deadline", e);
    }
  }
}
