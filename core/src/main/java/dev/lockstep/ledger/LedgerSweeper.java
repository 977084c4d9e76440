package dev.lockstep.ledger;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends expired transfers in the background. Any number of nodes may run one. Nothing depends on it
 * but how soon what was reserved shows as free; a command that needs the money ends them itself.
 */
final class LedgerSweeper implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LedgerSweeper.class);
  private static final long CLOSE_SECONDS = 10;

  private final Ledger ledger;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread named = new Thread(task, "ledger-sweeper");
            named.setDaemon(true);
            return named;
          });

  LedgerSweeper(Ledger ledger, Duration interval) {
    this.ledger = ledger;
    var unused =
        thread.scheduleWithFixedDelay(
            this::sweep, interval.toMillis(), interval.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void sweep() {
    try {
      ledger.sweep();
    } catch (RuntimeException e) {
      // The next round tries again; until then nothing is lost, only shown as reserved a little
      // longer.
      log.warn("Expired transfers were not ended this time: {}", e.getMessage());
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
    try {
      if (!thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        log.warn("The ledger sweeper has not ended within {} s", CLOSE_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
