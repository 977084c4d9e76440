package dev.lockstep.server.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.lockstep.server.rate.Rate;
import dev.lockstep.server.rate.RateLimits;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What does not fit together is refused when it is configured. */
class HttpLimitsTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  @Test
  void everyProcessorServesUnlessTold() {
    assertThat(HttpLimits.DEFAULT.eventLoops())
        .isEqualTo(Runtime.getRuntime().availableProcessors());
  }

  @Test
  void anAddressHasNoMoreThanAllTogether() {
    refused(() -> HttpLimits.DEFAULT.withConnections(10, 11), "connectionsPerAddress");
    refused(() -> HttpLimits.DEFAULT.withWatchers(10, 11), "watchersPerAddress");
    refused(() -> HttpLimits.DEFAULT.withWatchers(1_000_000, 1), "watchers");
    refused(() -> HttpLimits.DEFAULT.withConnections(0, 0), "connections");
    refused(() -> HttpLimits.DEFAULT.withEventLoops(0), "eventLoops");
  }

  @Test
  void thereAreNoMoreConnectionsThanFilesMayBeOpen() {
    HttpLimits limits = HttpLimits.DEFAULT.withConnections(10_000, 1_000);
    assertThat(OpenFiles.fitting(limits, 1_000_000)).isEqualTo(limits);
    HttpLimits few = OpenFiles.fitting(limits, 1_024);
    assertThat(few.connections()).isEqualTo(208);
    assertThat(few.connectionsPerAddress()).isEqualTo(52);
    assertThat(OpenFiles.fitting(limits, 4_096).connections()).isEqualTo(1_696);
    assertThat(OpenFiles.fitting(limits, 10).connections()).isEqualTo(1);
  }

  @Test
  void aTimeOutIsMoreThanNothing() {
    refused(() -> HttpLimits.DEFAULT.withReading(Duration.ZERO, SECOND), "headTimeout");
    refused(() -> HttpLimits.DEFAULT.withReading(SECOND, Duration.ofDays(1)), "bodyTimeout");
    refused(
        () -> HttpLimits.DEFAULT.withAnswering(SECOND, SECOND.negated(), SECOND), "idleTimeout");
  }

  @Test
  void aRateHasRoomForASecond() {
    refused(() -> new Rate(0, 1), "perSecond");
    refused(() -> new Rate(10, 9), "burst");
    refused(() -> RateLimits.DEFAULT.withUnknownKeys(new Rate(1_000, 1_000)), "unknownKeys");
  }

  @Test
  void aHostIsANameWithoutAPort() {
    refused(() -> Trust.DEFAULT.withHosts("shop.example:80"), "shop.example:80");
    refused(() -> Trust.DEFAULT.withHosts("http://shop"), "http://shop");
    assertThat(Trust.DEFAULT.withHosts("Shop.Example").hosts()).containsExactly("shop.example");
  }

  private static void refused(Runnable making, String names) {
    assertThatIllegalArgumentException().isThrownBy(making::run).withMessageContaining(names);
  }
}
