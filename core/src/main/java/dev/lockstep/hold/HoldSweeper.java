package dev.lockstep.hold;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes back expired holds in the background. Any number of nodes may run one: they skip what
 * another has locked. Nothing depends on it but how soon free stock shows; an acquire that needs
 * expired stock takes it back itself.
 */
final class HoldSweeper implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(HoldSweeper.class);
  private static final long CLOSE_SECONDS = 10;

  private final Holds holds;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread named = new Thread(task, "hold-sweeper");
            named.setDaemon(true);
            return named;
          });

  HoldSweeper(Holds holds, Duration interval) {
    this.holds = holds;
    var unused =
        thread.scheduleWithFixedDelay(
            this::sweep, interval.toMillis(), interval.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void sweep() {
    try {
      holds.sweep();
    } catch (RuntimeException e) {
      // The next round tries again; until then nothing is lost, only shown as held a little longer.
      log.warn("Expired holds were not taken back this time: {}", e.getMessage());
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
    try {
      if (!thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        log.warn("The hold sweeper has not ended within {} s", CLOSE_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
