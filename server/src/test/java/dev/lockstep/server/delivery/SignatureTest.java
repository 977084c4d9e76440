package dev.lockstep.server.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class SignatureTest {
  private static final byte[] BODY = "{}".getBytes(StandardCharsets.UTF_8);

  /**
   * The value was computed with openssl: {@code printf '1700000000.{}' | openssl dgst -sha256 -hmac
   * old}.
   */
  @Test
  void whileOneSecretReplacesAnotherBothSign() {
    String both = Signature.of(BODY, List.of("new", "old"), Instant.ofEpochSecond(1_700_000_000));
    String old = Signature.of(BODY, List.of("old"), Instant.ofEpochSecond(1_700_000_000));

    assertThat(old)
        .isEqualTo(
            "t=1700000000,v1=2b5e6fc3cac3432cb8a3476c75510114966afb97256d20b9198872431b7ceca6");
    assertThat(both).startsWith("t=1700000000,v1=").endsWith(old.substring(old.indexOf(',')));
    assertThat(both.split(",", -1)).hasSize(3).doesNotHaveDuplicates();
  }
}
