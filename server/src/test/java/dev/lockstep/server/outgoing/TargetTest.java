package dev.lockstep.server.outgoing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is refused before anybody is asked, and which addresses are public. */
class TargetTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://example.com/hook",
        "http://example.com",
        "https://EXAMPLE.com:8443/a/b?c=d%20e",
        "https://93.184.216.34/",
        "https://[2606:2800:220:1:248:1893:25c8:1946]/",
        "https://xn--bcher-kva.example/",
        "https://example.com./",
        "https://7.example.com/",
        "https://localhost.example.com/"
      })
  void aPublicUrlIsTaken(String url) {
    assertThat(Target.parse(url, false).origin()).startsWith("http");
  }

  @Test
  void whatIsNotAsciiIsSentPercentEncoded() {
    assertThat(Target.parse("https://example.com/caf\u00e9/%2f?q=\u65e5", false).path())
        .isEqualTo("/caf%C3%A9/%2f?q=%E6%97%A5");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          http://127.0.0.1/              | loopback
          http://127.255.255.254/        | loopback
          http://localhost/              | loopback
          http://LOCALHOST:8080/         | loopback
          http://localhost./             | loopback
          http://a.localhost/            | loopback
          http://0.0.0.0/                | unspecified
          http://0.1.2.3/                | unspecified
          http://10.0.0.1/               | private
          http://172.16.0.1/             | private
          http://172.31.255.255/         | private
          http://192.168.1.1/            | private
          http://169.254.169.254/latest  | link-local
          http://100.64.0.1/             | carrier-grade
          http://100.127.255.255/        | carrier-grade
          http://192.0.0.1/              | reserved
          http://192.0.2.1/              | documentation
          http://192.88.99.1/            | 6to4
          http://198.18.0.1/             | benchmarking
          http://198.51.100.1/           | documentation
          http://203.0.113.1/            | documentation
          http://224.0.0.1/              | multicast
          http://240.0.0.1/              | reserved
          http://255.255.255.255/        | reserved
          http://[::]/                   | unspecified
          http://[::1]/                  | loopback
          http://[0:0:0:0:0:0:0:1]/      | loopback
          http://[::ffff:127.0.0.1]/     | loopback
          http://[::ffff:7f00:1]/        | loopback
          http://[::ffff:10.1.2.3]/      | private
          http://[::127.0.0.1]/          | IPv4-compatible
          http://[64:ff9b::7f00:1]/      | NAT64
          http://[64:ff9b:1::a00:1]/     | NAT64
          http://[2002:7f00:1::]/        | 6to4
          http://[2001:0:4136:e378::]/   | reserved
          http://[2001:10::1]/           | reserved
          http://[2001:db8::1]/          | documentation
          http://[3fff::1]/              | documentation
          http://[100::1]/               | discard
          http://[fc00::1]/              | unique-local
          http://[fdff::1]/              | unique-local
          http://[fe80::1]/              | link-local
          http://[fec0::1]/              | site-local
          http://[ff02::1]/              | multicast
          http://[5f00::1]/              | reserved
          http://[4000::1]/              | reserved
          http://168.63.129.16/machine   | cloud platform
          http://[::ffff:168.63.129.16]/ | cloud platform
          http://100.100.100.200/latest  | carrier-grade
          http://192.0.0.192/opc/v2      | reserved
          http://169.254.170.2/v2        | link-local
          http://[fd00:ec2::254]/latest  | unique-local
          http://[fd00:ec2::23]/v1       | unique-local
          http://[fd20:ce::254]/         | unique-local
          http://[fd00:42::42]/          | unique-local
          http://[::ffff:0:10.0.0.1]/    | reserved
          http://[::10.0.0.1]/           | IPv4-compatible
          http://[64:ff9b::a9fe:a9fe]/   | NAT64
          http://[2002:a9fe:a9fe::1]/    | 6to4
          http://[2001:0:a:b:c:d:5601:5601]/ | reserved
          http://[2606:4700::5efe:a00:1]/     | ISATAP
          http://[2606:4700::200:5efe:a00:1]/ | ISATAP
          http://[100:0:0:1::1]/         | reserved
          http://[2001:20::1]/           | reserved
          http://[ff0e::1]/              | multicast
          http://239.255.255.250/        | multicast
          """)
  void anAddressThatIsNotPublicIsRefusedUnlessAllowed(String url, String purpose) {
    assertThatThrownBy(() -> Target.parse(url, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(purpose);
    assertThat(Target.parse(url, true)).isNotNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.0.0.1.",
        "1.2.3.4.5",
        "256.1.1.1",
        "01.2.3.4",
        "example.0x10"
      })
  void anAddressInDisguiseIsRefusedEvenWhereAllAddressesAreAllowed(String host) {
    assertThatThrownBy(() -> Target.parse("http://" + host + "/", true))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ftp://example.com/             | https
          file:///etc/passwd             | https
          javascript:alert(1)            | https
          example.com/hook               | https
          //example.com/hook             | https
          https:///hook                  | host
          https://                       | URL
          https://user:pw@example.com/   | user
          https://user@example.com/      | user
          https://@example.com/          | user
          https://example.com/#part      | fragment
          https://example.com:0/         | port
          https://example.com:70000/     | port
          https://exa mple.com/          | URL
          https://bücher.example/        | URL
          https://[fe80::1%25eth0]/      | address
          https://[::1/                  | URL
          """)
  void whatIsNoUrlToPostToIsRefused(String url, String why) {
    assertThatThrownBy(() -> Target.parse(url, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(why);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "8.8.8.8",
        "100.63.255.255",
        "100.128.0.0",
        "168.63.129.15",
        "168.63.129.17",
        "172.32.0.1",
        "192.0.1.0",
        "198.20.0.0",
        "223.255.255.255",
        "2606:4700::1111",
        "2400::1",
        "2606:4700::5eff:a00:1"
      })
  void publicAddressesAreToldApart(String address) throws Exception {
    assertThat(PublicAddress.otherPurpose(InetAddress.getByName(address))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "https://Example.com/a, https://example.com",
    "https://example.com:443/, https://example.com",
    "http://example.com:443/, http://example.com:443",
    "http://example.com:80/x, http://example.com"
  })
  void aReceiverIsSchemeHostAndPort(String url, String origin) {
    assertThat(Target.parse(url, false).origin()).isEqualTo(origin);
  }
}
