package dev.lockstep.tx;

import java.sql.Connection;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cuts a connection when its deadline passes, so that neither a chain of slow statements nor a
 * silent network blocks a caller for ever.
 *
 * <p>{@link #hasCut()}, {@link #finish()} and {@link #cut()} hold the monitor. Once {@code finish}
 * has returned, the connection has been cut or never will be, and may go back to its pool.
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

  /**
   * Equality is identity. The JVM's identity hash would be computed for each watchdog and looked up
   * under its monitor.
   */
  @Override
  public int hashCode() {
    return Long.hashCode(deadline.atNanos());
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return this == other;
  }

  /** True if the deadline came first: the connection and its transaction are gone. */
  synchronized boolean hasCut() {
    return cut;
  }

  /** Disarms the watchdog. */
  synchronized void finish() {
    finished = true;
    whenFinished.accept(this);
  }

  /** Cuts the connection, unless the watchdog is finished. */
  synchronized void cut() {
    if (finished || cut) {
      return;
    }
    cut = true;
    try {
      // Only abort closes the socket under a running statement.
      connection.abort(Runnable::run);
    } catch (Throwable e) {
      log.warn("Could not abort a connection whose deadline has passed", e);
    }
  }
}
