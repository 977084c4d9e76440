package dev.lockstep.server.metric;

import dev.lockstep.combine.CombinerListener;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;

/** Metrics of a combiner's batches. */
final class BatchFigures implements CombinerListener {
  private final Timer lockWait;
  private final Timer duration;
  private final DistributionSummary size;

  BatchFigures(Metrics metrics, String combiner) {
    lockWait =
        metrics.timer(
            "lockstep.lock.wait.time",
            "Time until a batch has locked and read its rows.",
            "combiner",
            combiner);
    duration =
        metrics.timer(
            "lockstep.combiner.batch.duration",
            "Duration of batches, retries included.",
            "combiner",
            combiner);
    size =
        metrics.sizes(
            "lockstep.combiner.batch.requests", "Requests decided together.", "combiner", combiner);
    // Its transactions carry its name. Registered at zero, so that the first scrape has it.
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
