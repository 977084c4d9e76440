package dev.lockstep.server.draw;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks again and again for lists that wait for their beacon. What it has to do is in the database,
 * so it survives a restart, and any number of nodes may run it.
 */
final class DrawLoop implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(DrawLoop.class);
  private static final long CLOSE_SECONDS = 10;

  private final Draws draws;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "lockstep-draw");
            thread.setDaemon(true);
            return thread;
          });

  DrawLoop(Draws draws, Duration interval) {
    this.draws = draws;
    var unused =
        timer.scheduleWithFixedDelay(this::complete, 0, interval.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void complete() {
    try {
      draws.completeWaiting();
    } catch (RuntimeException e) {
      // The list is frozen whatever happens here; the next round tries again.
      log.warn("A draw could not be completed this time: {}", e.toString());
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
    try {
      if (!timer.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        log.warn("The draw loop has not ended within {} s", CLOSE_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
