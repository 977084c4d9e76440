package dev.lockstep.server.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.lockstep.server.api.Caller;
import io.vertx.core.MultiMap;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The client behind proxies, as far as they can be believed. */
class ForwardingTest {
  private static final Trust TRUST = Trust.DEFAULT.withProxies("10.0.0.0/8", "2001:db8:1::/48");
  private static final Forwarding FORWARDING = new Forwarding(TRUST);

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        // Peer | header | value | client
        "10.0.0.1    | X-Forwarded-For | 203.0.113.1                        | 203.0.113.1",
        "203.0.113.9 | X-Forwarded-For | 203.0.113.1                        | 203.0.113.9",
        "10.0.0.1    | X-Forwarded-For | 1.1.1.1, 203.0.113.1               | 203.0.113.1",
        "10.0.0.1    | X-Forwarded-For | 203.0.113.1, 10.9.9.9              | 203.0.113.1",
        "10.0.0.1    | X-Forwarded-For | 203.0.113.1, rubbish, 10.9.9.9     | 10.9.9.9",
        "10.0.0.1    | X-Forwarded-For | rubbish                            | 10.0.0.1",
        "10.0.0.1    | X-Forwarded-For | localhost                          | 10.0.0.1",
        "10.0.0.1    | X-Forwarded-For | 203.0.113.1:4711                   | 203.0.113.1",
        "10.0.0.1    | X-Forwarded-For | [2001:db8::5]:4711                 | 2001:db8:0:0:0:0:0:5",
        "10.0.0.1    | X-Forwarded-For | 2001:db8::5                        | 2001:db8:0:0:0:0:0:5",
        "10.0.0.1    | X-Forwarded-For | ::ffff:203.0.113.1                 | 203.0.113.1",
        "10.0.0.1    | X-Forwarded-For | 10.1.1.1, 10.2.2.2                 | 10.1.1.1",
        "10.0.0.1    | X-Forwarded-For | 1.1.1.1,, 203.0.113.1              | 203.0.113.1",
        "10.0.0.1    | X-Forwarded-For | 1.1.1.1, , 10.9.9.9                | 10.9.9.9",
        "10.0.0.1    | X-Forwarded-For | 1.1.1.1,                           | 10.0.0.1",
        "10.0.0.1    | X-Forwarded-For | \", 203.0.113.1                    | 203.0.113.1",
        "10.0.0.1    | X-Forwarded-For | 203.0.113.1:port                   | 10.0.0.1",
        "10.0.0.1    | X-Forwarded-For | 203.0.113.1:123456                 | 10.0.0.1",
        "10.0.0.1    | X-Forwarded-For | [2001:db8::5                       | 10.0.0.1",
        "10.0.0.1    | X-Forwarded-For | [2001:db8::5]4711                  | 10.0.0.1",
        "10.0.0.1    | X-Forwarded-For | [2001:db8::5]                      | 2001:db8:0:0:0:0:0:5",
        "10.0.0.1    | X-Forwarded-For | [2001:db8:1::5], 2001:db8:1::6     | 2001:db8:1:0:0:0:0:5",
        "10.0.0.1    | Forwarded | for=203.0.113.1                          | 203.0.113.1",
        "10.0.0.1    | Forwarded | For=\"[2001:db8::5]:4711\";by=10.0.0.1   | 2001:db8:0:0:0:0:0:5",
        "10.0.0.1    | Forwarded | for=1.1.1.1, for=203.0.113.1;proto=https | 203.0.113.1",
        "10.0.0.1    | Forwarded | for=_secret                              | 10.0.0.1",
        "10.0.0.1    | Forwarded | for=unknown, for=10.3.3.3                | 10.3.3.3",
        "10.0.0.1    | Forwarded | for=1.1.1.1, for=\"                      | 10.0.0.1",
        "10.0.0.1    | Forwarded | for=\"203.0.113.1:_hidden\"              | 203.0.113.1",
        "10.0.0.1    | Forwarded | proto=https                              | 10.0.0.1",
        "2001:db8:1::7 | X-Forwarded-For | 203.0.113.1                      | 203.0.113.1",
        "2001:db8:2::7 | X-Forwarded-For | 203.0.113.1                      | 2001:db8:2:0:0:0:0:7",
      })
  void theFirstThatIsNoTrustedProxyFromTheRight(
      String peer, String header, String value, String client) throws Exception {
    Caller caller = caller(peer, header, value);
    assertThat(caller.address().getHostAddress()).isEqualTo(client);
    assertThat(caller.direct()).isFalse();
  }

  @Test
  void noMoreThanThirtyTwoHopsAreLookedAt() throws Exception {
    String proxies = ", 10.0.0.2".repeat(31);
    assertThat(caller("10.0.0.1", "X-Forwarded-For", "203.0.113.1" + proxies).address())
        .isEqualTo(InetAddress.getByName("203.0.113.1"));
    assertThat(caller("10.0.0.1", "X-Forwarded-For", "203.0.113.1, 10.0.0.3" + proxies).address())
        .isEqualTo(InetAddress.getByName("10.0.0.3"));
  }

  @Test
  void schemeAndHostAreThoseOfTheSameHop() throws Exception {
    Caller caller =
        caller(
            "10.0.0.1",
            "Forwarded",
            "for=1.1.1.1;host=evil.example, for=203.0.113.1;proto=https;host=\"shop.example:443\"");
    assertThat(caller.secure()).isTrue();
    assertThat(caller.host()).hasValue("shop.example:443");
    assertThat(caller("10.0.0.1", "Forwarded", "for=203.0.113.1;host=\"a b\"").host())
        .hasValue("here.example");
    assertThat(caller("203.0.113.9", "X-Forwarded-Proto", "https").secure()).isFalse();
    assertThat(caller("10.0.0.1", "X-Forwarded-Proto", "https").secure()).isTrue();
    assertThat(caller("10.0.0.1", "X-Forwarded-Host", "shop.example").host())
        .hasValue("shop.example");
  }

  @Test
  void onlyTheFamilyThatTheProxyWritesIsRead() throws Exception {
    MultiMap both =
        headers()
            .add("Forwarded", "for=203.0.113.77;proto=https;host=forwarded.example")
            .add("X-Forwarded-For", "198.51.100.7")
            .add("X-Forwarded-Proto", "http")
            .add("X-Forwarded-Host", "x.example");
    InetAddress proxy = InetAddress.getByName("10.0.0.1");

    Caller usual = new Forwarding(TRUST.withHeader(ProxyHeader.X_FORWARDED)).caller(proxy, both);
    assertThat(usual.address().getHostAddress()).isEqualTo("198.51.100.7");
    assertThat(usual.secure()).isFalse();
    assertThat(usual.host()).hasValue("x.example");

    both.set("X-Forwarded-Proto", "https").set("Forwarded", "for=203.0.113.77;proto=http");
    Caller other = new Forwarding(TRUST.withHeader(ProxyHeader.FORWARDED)).caller(proxy, both);
    assertThat(other.address().getHostAddress()).isEqualTo("203.0.113.77");
    assertThat(other.secure()).isFalse();
    assertThat(other.host()).hasValue("here.example");
  }

  @Test
  void twoFamiliesAreBelievedOnlyWhereTheySayTheSame() throws Exception {
    InetAddress proxy = InetAddress.getByName("10.0.0.1");
    MultiMap both =
        headers()
            .add("Forwarded", "for=203.0.113.77;proto=https")
            .add("X-Forwarded-For", "203.0.113.77")
            .add("X-Forwarded-Proto", "https");

    assertThat(FORWARDING.caller(proxy, both).address().getHostAddress()).isEqualTo("203.0.113.77");
    assertThat(FORWARDING.caller(proxy, both).secure()).isTrue();
    both.set("X-Forwarded-For", "198.51.100.7");
    assertThat(FORWARDING.caller(proxy, both).address()).isEqualTo(proxy);
    assertThat(FORWARDING.caller(proxy, both).secure()).isFalse();
  }

  @Test
  void whatTheProxyDoesNotWriteIsNotReadEvenAlone() throws Exception {
    InetAddress proxy = InetAddress.getByName("10.0.0.1");
    Caller caller =
        new Forwarding(TRUST.withHeader(ProxyHeader.X_FORWARDED))
            .caller(proxy, headers().add("Forwarded", "for=203.0.113.77;proto=https"));
    assertThat(caller.address()).isEqualTo(proxy);
    assertThat(caller.secure()).isFalse();
    assertThat(caller.direct()).isFalse();
  }

  @Test
  void severalLinesAreOneListAndTheLastIsTheNearest() throws Exception {
    InetAddress proxy = InetAddress.getByName("10.0.0.1");
    MultiMap lines =
        headers().add("X-Forwarded-For", "1.1.1.1").add("X-Forwarded-For", "203.0.113.1, 10.9.9.9");
    assertThat(FORWARDING.caller(proxy, lines).address().getHostAddress()).isEqualTo("203.0.113.1");
    MultiMap quoted =
        headers().add("Forwarded", "for=\"1.1.1.1").add("Forwarded", "for=203.0.113.1");
    assertThat(
            new Forwarding(TRUST.withHeader(ProxyHeader.FORWARDED))
                .caller(proxy, quoted)
                .address()
                .getHostAddress())
        .isEqualTo("203.0.113.1");
  }

  @Test
  void whoComesWithoutAProxyIsDirect() throws Exception {
    Caller caller = FORWARDING.caller(InetAddress.getByName("203.0.113.9"), headers());
    assertThat(caller.direct()).isTrue();
    assertThat(caller.host()).hasValue("here.example");
    assertThat(caller.network()).isEqualTo("203.0.113.9");
  }

  @Test
  void aCustomerOfIpv6HasOneNetwork() throws Exception {
    assertThat(Caller.network(InetAddress.getByName("2001:db8:1:2:3:4:5:6")))
        .isEqualTo(Caller.network(InetAddress.getByName("2001:db8:1:2:ffff::1")))
        .isNotEqualTo(Caller.network(InetAddress.getByName("2001:db8:1:3::1")));
  }

  @ParameterizedTest
  @CsvSource({"10.0.0.0/33", "10.0.0/8", "10.0.0.0/-1", "proxy.example", "''", "/8", "::/129"})
  void aRangeThatIsNoneIsRefused(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> AddressRange.of(text));
  }

  private static Caller caller(String peer, String header, String value) throws Exception {
    ProxyHeader written =
        header.equals("Forwarded") ? ProxyHeader.FORWARDED : ProxyHeader.X_FORWARDED;
    return new Forwarding(TRUST.withHeader(written))
        .caller(InetAddress.getByName(peer), headers().add(header, value));
  }

  private static MultiMap headers() {
    return MultiMap.caseInsensitiveMultiMap().add("Host", "here.example");
  }
}
