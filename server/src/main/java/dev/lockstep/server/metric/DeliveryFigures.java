package dev.lockstep.server.metric;

import dev.lockstep.server.delivery.DeliveryListener;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** Metrics of webhook and mail deliveries. */
final class DeliveryFigures implements DeliveryListener {
  private final Map<Ending, Timer> attempts;

  DeliveryFigures(Metrics metrics) {
    attempts =
        Metrics.each(
            Ending.class,
            ending ->
                metrics.timer(
                    "lockstep.delivery.duration",
                    "Attempts to deliver to a webhook or by mail, by result.",
                    "outcome",
                    ending.name().toLowerCase(Locale.ROOT)));
  }

  @Override
  public void onAttempt(Ending ending, Duration took) {
    Objects.requireNonNull(attempts.get(ending)).record(took);
  }
}
