package dev.lockstep.server.setting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KindTest {
  private static final Kind<Duration> TIME = Kind.duration(Duration.ZERO, Duration.ofDays(3_650));
  private static final Kind<Long> SIZE = Kind.size(0, 1L << 40);

  @ParameterizedTest
  @CsvSource({
    "0ms,0",
    "250ms,250",
    "2500ms,2500",
    "3s,3000",
    "15m,900000",
    "24h,86400000",
    "7d,604800000"
  })
  void timesHaveAUnit(String text, long millis) {
    Duration time = TIME.parse().apply(text);
    assertThat(time).isEqualTo(Duration.ofMillis(millis));
    assertThat(TIME.parse().apply(TIME.write().apply(time))).isEqualTo(time);
  }

  @Test
  void timesAreShownInTheLargestUnitThatFits() {
    assertThat(TIME.write().apply(Duration.ofMillis(2_500))).isEqualTo("2500ms");
    assertThat(TIME.write().apply(Duration.ofHours(24))).isEqualTo("1d");
    assertThat(TIME.write().apply(Duration.ofMinutes(90))).isEqualTo("90m");
  }

  @ParameterizedTest
  @CsvSource({"512,512", "64k,65536", "64K,65536", "1m,1048576", "2g,2147483648"})
  void sizesArePowersOf1024(String text, long bytes) {
    assertThat(SIZE.parse().apply(text)).isEqualTo(bytes);
    assertThat(SIZE.parse().apply(SIZE.write().apply(bytes))).isEqualTo(bytes);
  }

  @Test
  void whatIsNoneIsRefused() {
    for (String wrong : List.of("3", "-3s", "3 s", "3S", "1h30m", "s", "", "1e3s", "3651d")) {
      assertThatThrownBy(() -> TIME.parse().apply(wrong))
          .as(wrong)
          .isInstanceOf(IllegalArgumentException.class);
    }
    for (String wrong : List.of("k", "-1", "1.5g", "1kb", "9999999999", "1t", "")) {
      assertThatThrownBy(() -> SIZE.parse().apply(wrong))
          .as(wrong)
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> Kind.days(1, 7).parse().apply("36h"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(Kind.days(1, 7).parse().apply("48h")).isEqualTo(Duration.ofDays(2));
    assertThatThrownBy(() -> Kind.yesOrNo().parse().apply("TRUE"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(Kind.choice("INFO", "WARN").parse().apply("warn")).isEqualTo("WARN");
  }

  @ParameterizedTest
  @CsvSource({"pool.sise,pool.size,1", "pool.szie,pool.size,1", "size,pool.size,5", "a,a,0"})
  void aSlipOfTheHandIsOneStepAway(String written, String meant, int steps) {
    assertThat(NearestName.distance(written, meant)).isEqualTo(steps);
  }

  @Test
  void theNearestNameIsFoundAndNoFarOneIs() {
    List<String> known = List.of("pool.size", "pool.wait", "port");
    assertThat(NearestName.of("pool-size", known)).hasValue("pool.size");
    assertThat(NearestName.of("poolsize", known)).hasValue("pool.size");
    assertThat(NearestName.of("prot", known)).hasValue("port");
    assertThat(NearestName.of("completely.different", known)).isEmpty();
    assertThat(NearestName.of("LOCKSTEP_port", List.of("LOCKSTEP_DATA", "LOCKSTEP_PORT")))
        .hasValue("LOCKSTEP_PORT");
    assertThat(NearestName.of("x".repeat(100_000), known)).isEmpty();
  }
}
