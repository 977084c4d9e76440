package dev.lockstep.server.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.server.lifecycle.CannotStart;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SupportedVersionTest {
  @ParameterizedTest
  @ValueSource(ints = {140_000, 150_015, 180_006})
  void fourteenToEighteenPassInSilence(int version) {
    assertThat(SupportedVersion.check(version)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {90_624, 130_023})
  void anOlderReleaseIsRefused(int version) {
    assertThatThrownBy(() -> SupportedVersion.check(version))
        .isInstanceOf(CannotStart.class)
        .hasMessageContaining("needs 14 or later");
  }

  @Test
  void aNewerReleaseIsTakenWithAWarning() {
    assertThat(SupportedVersion.check(190_000))
        .hasValueSatisfying(w -> assertThat(w).contains("PostgreSQL 19 is not tested"));
  }
}
