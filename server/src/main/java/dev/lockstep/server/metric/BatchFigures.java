package dev.lockstep.server.metric;

import dev.lockstep.combine.CombinerListener;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;

/** Batches of a combiner. */
final class BatchFigures implements CombinerListener {
  private final Timer lockWait;
  private final Timer duration;
  private final DistributionSummary size;

  BatchFigures(Metrics metrics, String combiner) {
    lockWait =
        metrics.timer(
            "lockstep.lock.wait.time",
            "Time until a batch had its rows locked, reading them included.",
            "combiner",
            combiner);
    duration =
        metrics.timer(
            "lockstep.combiner.batch.duration",
            "Batches from beginning to end, retries included.",
            "combiner",
            combiner);
    size =
        metrics.sizes(
            "lockstep.combiner.batch.requests", "Requests decided together.", "combiner", combiner);
    // Its transactions carry its name. At zero from the first scrape on, beside the waits.
    var unused = TxFigures.lockTimeouts(metrics, combiner);
  }

  @Override
  public void onLocked(Duration took) {
    lockWait.record(took);
  }

  @Override
  public void onBatch(int requests, Duration took) {
    duration.record(took);
    size.record(requests);
  }
}
