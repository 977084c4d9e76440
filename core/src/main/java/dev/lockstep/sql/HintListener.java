package dev.lockstep.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens for notifications on its own connection and passes their payloads on as hints. Hints only
 * speed things up: a lost one costs the delay of one poll. Thread-safe.
 */
public final class HintListener implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(HintListener.class);
  private static final int WAIT_MS = 200;
  private static final long PAUSE_NANOS = 1_000_000_000L;
  private static final int ANSWER_WITHIN_SECONDS = 5;

  private final Optional<DataSource> source;
  private final String channel;
  private final Consumer<Set<String>> hint;
  private final Duration checkEvery;
  private final Thread thread;
  private volatile boolean stopping;

  /** Why the connection was lost, so that each reason is logged once; empty while connected. */
  private String lost = "";

  /**
   * @param source of direct connections in auto-commit mode, not through a pooler in transaction
   *     mode; if empty, there are no hints
   * @param channel a fixed name of Lockstep's own; it becomes part of a statement
   * @param hint called on the listening thread with the payloads of one or more notifications; an
   *     empty set means that some may have been missed, so anything may have changed
   */
  public HintListener(
      Optional<DataSource> source, String channel, String threadName, Consumer<Set<String>> hint) {
    this(source, channel, threadName, hint, Duration.ofSeconds(30));
  }

  /**
   * @param checkEvery how often to check that the server still answers
   */
  HintListener(
      Optional<DataSource> source,
      String channel,
      String threadName,
      Consumer<Set<String>> hint,
      Duration checkEvery) {
    if (!channel.matches("[a-z_]+")) {
      throw new IllegalArgumentException(
          "A channel name has only a to z and _, but this is: " + channel);
    }
    this.source = source;
    this.channel = channel;
    this.hint = hint;
    this.checkEvery = checkEvery;
    this.thread = new Thread(this::run, threadName);
    thread.setDaemon(true);
  }

  public void start() {
    if (source.isPresent()) {
      thread.start();
    }
  }

  private void run() {
    while (!stopping) {
      try (Connection connection = source.orElseThrow().getConnection()) {
        listen(connection);
      } catch (Throwable e) {
        String why = e.toString();
        if (!why.equals(lost)) {
          log.warn("Lost the notification connection; polling until it is back: {}", why);
          lost = why;
        }
        LockSupport.parkNanos(this, PAUSE_NANOS);
      }
    }
  }

  private void listen(Connection connection) throws SQLException {
    HandedOut.requireOurs(connection, false);
    try (Statement statement = connection.createStatement()) {
      statement.execute("LISTEN " + channel);
      if (!lost.isEmpty()) {
        log.info("The notification connection is back");
        lost = "";
      }
      // Covers notifications that came while there was no connection.
      hint.accept(Set.of());
      long checkedNanos = System.nanoTime();
      while (!stopping) {
        // Reads the socket only; sends nothing to the server.
        Set<String> payloads = PgDriver.awaitNotifications(connection, WAIT_MS);
        if (!payloads.isEmpty()) {
          hint.accept(payloads);
        }
        if (System.nanoTime() - checkedNanos > checkEvery.toNanos()) {
          requireAnswer(connection);
          checkedNanos = System.nanoTime();
        }
      }
      statement.execute("UNLISTEN " + channel);
    }
  }

  /**
   * Without this check a dead machine, or a network that drops packets, would go unnoticed for
   * hours.
   */
  private static void requireAnswer(Connection connection) throws SQLException {
    if (!connection.isValid(ANSWER_WITHIN_SECONDS)) {
      throw new SQLException("The server does not answer on the notification connection");
    }
  }

  @Override
  public void close() {
    stopping = true;
    LockSupport.unpark(thread);
    try {
      thread.join(2L * WAIT_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
