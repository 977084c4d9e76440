package dev.lockstep.server.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.server.api.BodyLimits;
import org.junit.jupiter.api.Test;

/** What the server may be made to hold fits its heap, and one body always fits. */
class MemoryLimitsTest {
  private static final long MIB = 1024 * 1024;

  @Test
  void theDefaultsFollowTheHeap() {
    assertThat(MemoryLimits.ofHeap(1024 * MIB))
        .isEqualTo(new MemoryLimits(128 * MIB, 32 * MIB, 128 * MIB, 32 * MIB));
    assertThat(MemoryLimits.ofHeap(64 * MIB))
        .isEqualTo(new MemoryLimits(16 * MIB, 4 * MIB, 16 * MIB, 4 * MIB));
  }

  @Test
  void anAddressHasNoMoreThanAllHave() {
    assertThatThrownBy(() -> MemoryLimits.DEFAULT.withBodies(MIB, 2 * MIB))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("bodiesPerAddress");
    assertThatThrownBy(() -> MemoryLimits.DEFAULT.withUnsent(MIB, MIB - 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("unsentPerAddress");
  }

  @Test
  void theLargestBodyFitsWhatAnAddressMayHave() {
    HttpLimits small =
        HttpLimits.DEFAULT.withMemory(MemoryLimits.DEFAULT.withBodies(2 * MIB, 2 * MIB));
    assertThatThrownBy(() -> small.withBodies(new BodyLimits(1_024, (int) (2 * MIB + 1))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("bodiesPerAddress");
  }
}
