package dev.lockstep.postgres;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a server running: restarts it after an unexpected end, such as an out-of-memory kill or a
 * full disk.
 *
 * <p>It tries a bounded number of times, with growing pauses. It gives up when every try fails or
 * the server keeps ending, and then calls the listener once, with a message for people.
 *
 * <p>Close it before the server. Closing takes seconds at most, even during a long recovery.
 */
public final class PostgresKeeper implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(PostgresKeeper.class);

  private static final long CLOSE_TIMEOUT_MS = 500;

  /**
   * When to give up.
   *
   * @param tries how many starts in a row may fail
   * @param firstPause between the first two tries; doubles with each
   * @param endings how often the server may end within {@code window}
   * @param window see {@code endings}
   */
  public record Patience(int tries, Duration firstPause, int endings, Duration window) {
    /** Six tries within about half a minute; five endings within ten minutes. */
    public static final Patience DEFAULT =
        new Patience(6, Duration.ofSeconds(1), 5, Duration.ofMinutes(10));

    public Patience {
      if (tries < 1 || endings < 1) {
        throw new IllegalArgumentException("tries and endings must be at least 1");
      }
      if (firstPause.isNegative() || window.isNegative()) {
        throw new IllegalArgumentException("firstPause and window must not be negative");
      }
    }
  }

  private final PostgresServer server;
  private final Patience patience;
  private final Consumer<PostgresException> gaveUp;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Deque<Long> endings = new ArrayDeque<>();
  private final Thread thread;

  private PostgresKeeper(
      PostgresServer server, Patience patience, Consumer<PostgresException> gaveUp) {
    this.server = server;
    this.patience = patience;
    this.gaveUp = gaveUp;
    this.thread = new Thread(this::keep, "lockstep-postgres-keeper");
    thread.setDaemon(true);
  }

  /**
   * Starts to watch a running server.
   *
   * @param gaveUp called once, on the keeper's thread, when the server is gone for good
   */
  public static PostgresKeeper over(
      PostgresServer server, Patience patience, Consumer<PostgresException> gaveUp) {
    PostgresKeeper keeper = new PostgresKeeper(server, patience, gaveUp);
    keeper.thread.start();
    return keeper;
  }

  /** Stops watching: the server is no longer restarted. */
  @Override
  public void close() {
    closed.countDown();
    thread.interrupt();
    try {
      thread.join(CLOSE_TIMEOUT_MS);
      if (thread.isAlive()) {
        // A start is replaying a long log; the replayed part is not lost.
        server.abandonStart();
        thread.join(CLOSE_TIMEOUT_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void keep() {
    try {
      while (true) {
        server.awaitExit();
        if (isClosed()) {
          return;
        }
        log.error("PostgreSQL ended unexpectedly; restarting it");
        revive();
      }
    } catch (InterruptedException e) {
      // Closed.
    } catch (PostgresException e) {
      if (!isClosed()) {
        gaveUp.accept(e);
      }
    }
  }

  private void revive() throws InterruptedException {
    long now = System.nanoTime();
    endings.addLast(now);
    while (now - endings.getFirst() > patience.window().toNanos()) {
      endings.removeFirst();
    }
    if (endings.size() > patience.endings()) {
      throw new PostgresException(
          "PostgreSQL ended %d times within %d min and is not restarted. %s"
              .formatted(endings.size(), patience.window().toMinutes(), server.logHint()));
    }
    long pauseMs = patience.firstPause().toMillis();
    for (int number = 1; ; number++, pauseMs *= 2) {
      try {
        server.restart();
        log.info("PostgreSQL runs again");
        return;
      } catch (PostgresException e) {
        if (isClosed() || number == patience.tries()) {
          throw new PostgresException(
              "PostgreSQL ended and could not be started again (%d tries). %s"
                  .formatted(number, e.getMessage()),
              e);
        }
        log.warn(
            "PostgreSQL could not be started again (try {} of {}): {}",
            number,
            patience.tries(),
            String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
      }
      if (closed.await(pauseMs, TimeUnit.MILLISECONDS)) {
        throw new InterruptedException();
      }
    }
  }

  private boolean isClosed() {
    return closed.getCount() == 0;
  }
}
