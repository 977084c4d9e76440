package dev.lockstep.server.key;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.api.Principal;
import dev.lockstep.server.api.Role;
import java.util.Optional;
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

  /** Its row was read before it was revoked, and what was read arrives after that. */
  @Test
  void aKeyThatIsRevokedWhileItIsLookedUpIsNotRememberedAsGood() {
    Principal service = new Principal(Role.SERVICE, "key_1", Optional.empty());
    KeyTable.Live live = new KeyTable.Live(service, Optional.empty());
    long before = cache.revocations();

    cache.forget("key_1");
    cache.keep(HASH, live, before);
    assertThat(cache.find(HASH)).isEmpty();

    cache.keep(HASH, live, cache.revocations());
    assertThat(cache.find(HASH)).hasValue(service);
    cache.forget("key_1");
    assertThat(cache.find(HASH)).isEmpty();
  }

  @Test
  void guessesDoNotFillTheMemory() {
    for (int i = 0; i < 25_000; i++) {
      cache.keepUnknown(Secret.of("guess " + i).hash());
    }
    assertThat(cache.unknownKeys()).isLessThanOrEqualTo(10_000);
  }
}
