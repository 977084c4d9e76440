package dev.lockstep.server.edge;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which hosts a server answers to, where they are named. */
class AllowedHostsTest {
  private static final AllowedHosts HOSTS =
      new AllowedHosts(Trust.DEFAULT.withHosts("shop.example"));

  @ParameterizedTest
  @CsvSource({
    "shop.example,      192.0.2.1, true",
    "SHOP.example:8080, 127.0.0.1, true",
    "evil.example,      127.0.0.1, false",
    "localhost:8080,    127.0.0.1, true",
    "localhost,         ::1,       true",
    "localhost,         192.0.2.1, false",
    "127.0.0.1,         192.0.2.1, false",
    "[::1],             2001:db8::1, false",
    "localhost,                  , false",
  })
  void aLoopbackNameIsGoodOnALoopbackConnectionOnly(String host, String local, boolean ours) {
    assertThat(HOSTS.ours(host, local)).isEqualTo(ours);
  }
}
