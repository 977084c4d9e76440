package dev.lockstep.server.outgoing;

import java.math.BigInteger;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;

/**
 * Recognizes public addresses. In IPv4, everything except special-purpose ranges; in IPv6, only
 * global unicast, except the parts that lead elsewhere. IPv6 addresses that embed an IPv4 address
 * for a gateway (6to4, Teredo, NAT64, ISATAP) are always refused.
 */
final class PublicAddress {
  /** A range of addresses and its purpose. */
  private record Range(int bytes, BigInteger prefix, int away, String purpose) {
    boolean contains(byte[] address) {
      return address.length == bytes && new BigInteger(1, address).shiftRight(away).equals(prefix);
    }
  }

  private static final Range GLOBAL_UNICAST = range("2000::/3", "global");

  private static final List<Range> SPECIAL =
      List.of(
          range("0.0.0.0/8", "unspecified"),
          range("10.0.0.0/8", "private"),
          range("100.64.0.0/10", "carrier-grade"),
          range("127.0.0.0/8", "loopback"),
          // Formally public, but every machine in Azure reaches its host's agent there.
          range("168.63.129.16/32", "cloud platform"),
          // The metadata services of most clouds and their containers.
          range("169.254.0.0/16", "link-local"),
          range("172.16.0.0/12", "private"),
          range("192.0.0.0/24", "reserved"),
          range("192.0.2.0/24", "documentation"),
          range("192.88.99.0/24", "6to4 relay"),
          range("192.168.0.0/16", "private"),
          range("198.18.0.0/15", "benchmarking"),
          range("198.51.100.0/24", "documentation"),
          range("203.0.113.0/24", "documentation"),
          range("224.0.0.0/4", "multicast"),
          range("240.0.0.0/4", "reserved"),
          // Named for the message: not global unicast, or leading elsewhere.
          range("::/128", "unspecified"),
          range("::1/128", "loopback"),
          range("::/96", "IPv4-compatible"),
          range("64:ff9b::/96", "NAT64"),
          range("64:ff9b:1::/48", "NAT64"),
          range("100::/64", "discard"),
          range("2001:db8::/32", "documentation"),
          // Teredo, ORCHID and other protocols.
          range("2001::/23", "reserved"),
          range("2002::/16", "6to4"),
          range("3fff::/20", "documentation"),
          range("fc00::/7", "unique-local"),
          range("fe80::/10", "link-local"),
          range("fec0::/10", "site-local"),
          range("ff00::/8", "multicast"));

  private PublicAddress() {}

  /** The special purpose of this address; empty if it is public. IPv4-mapped IPv6 is IPv4. */
  static Optional<String> otherPurpose(InetAddress address) {
    byte[] bytes = address.getAddress();
    for (Range range : SPECIAL) {
      if (range.contains(bytes)) {
        return Optional.of(range.purpose());
      }
    }
    if (!(address instanceof Inet6Address)) {
      return Optional.empty();
    }
    if (!GLOBAL_UNICAST.contains(bytes)) {
      return Optional.of("reserved");
    }
    return isIsatap(bytes) ? Optional.of("ISATAP") : Optional.empty();
  }

  /** An IPv4 address behind 0:5efe or 200:5efe, under any prefix: RFC 5214. */
  private static boolean isIsatap(byte[] address) {
    return (address[8] & ~0x02) == 0
        && address[9] == 0
        && address[10] == 0x5e
        && address[11] == (byte) 0xfe;
  }

  private static Range range(String notation, String purpose) {
    String[] parts = notation.split("/", 2);
    try {
      // A literal: no look-up.
      byte[] first = InetAddress.getByName(parts[0]).getAddress();
      int away = first.length * Byte.SIZE - Integer.parseInt(parts[1]);
      return new Range(first.length, new BigInteger(1, first).shiftRight(away), away, purpose);
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(notation, e);
    }
  }
}
