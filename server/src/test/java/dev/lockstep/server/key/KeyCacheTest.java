package dev.lockstep.server.key;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class KeyCacheTest {
  private static final byte[] HASH = Secret.of("a key").hash();

  private final AtomicLong now = new AtomicLong();
  private final KeyCache cache = new KeyCache(now::get);

  @Test
  void aKeyThatIsNotKnownIsRememberedForAMoment() {
    cache.keepUnknown(HASH);
    assertThat(cache.isUnknown(HASH)).isTrue();
    now.addAndGet(KeyCache.UNKNOWN_MAX_AGE.toNanos());
    assertThat(cache.isUnknown(HASH)).isFalse();
  }

  @Test
  void guessesDoNotFillTheMemory() {
    for (int i = 0; i < 25_000; i++) {
      cache.keepUnknown(Secret.of("guess " + i).hash());
    }
    assertThat(cache.unknownKeys()).isLessThanOrEqualTo(10_000);
  }
}
