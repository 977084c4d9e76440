package dev.lockstep.server.metric;

import dev.lockstep.job.JobsListener;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** Metrics of reads of due jobs, and of this node's job results. */
final class WorkFigures implements JobsListener {
  private final Map<Reader, Timer> durations;
  private final Map<Reader, DistributionSummary> rows;
  private final ResultFigures results;

  WorkFigures(Metrics metrics) {
    durations =
        Metrics.each(
            Reader.class,
            reader ->
                metrics.timer(
                    "lockstep.jobs.read.duration",
                    "Duration of reads of due jobs, without the wait for a connection.",
                    "reader",
                    name(reader)));
    rows =
        Metrics.each(
            Reader.class,
            reader ->
                metrics.sizes(
                    "lockstep.jobs.read.rows", "Due jobs found per read.", "reader", name(reader)));
    results = metrics.results("job");
  }

  @Override
  public void onRead(Reader reader, int found, Duration took) {
    Objects.requireNonNull(durations.get(reader)).record(took);
    Objects.requireNonNull(rows.get(reader)).record(found);
  }

  @Override
  public void onResults(int accepted, int stale) {
    results.add(accepted, stale);
  }

  private static String name(Reader reader) {
    return reader.name().toLowerCase(Locale.ROOT);
  }
}
