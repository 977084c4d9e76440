package dev.lockstep.server.edge;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Addresses that share a prefix: {@code 10.0.0.0/8}, {@code 2001:db8::/32}, or a single address.
 * Names are not looked up.
 */
public final class AddressRange {
  private final byte[] first;
  private final int bits;
  private final String text;

  private AddressRange(byte[] first, int bits, String text) {
    this.first = first;
    this.bits = bits;
    this.text = text;
  }

  /**
   * Parses a range or a single address.
   *
   * @throws IllegalArgumentException when it is neither
   */
  public static AddressRange of(String text) {
    int slash = text.indexOf('/');
    Optional<InetAddress> address = address(slash < 0 ? text : text.substring(0, slash));
    if (address.isEmpty()) {
      throw new IllegalArgumentException("'" + text + "' is neither an address nor a range");
    }
    byte[] first = address.get().getAddress();
    int bits = slash < 0 ? first.length * 8 : prefix(text.substring(slash + 1), first.length * 8);
    if (bits < 0) {
      throw new IllegalArgumentException("'" + text + "' has an invalid prefix length");
    }
    return new AddressRange(first, bits, text);
  }

  public boolean contains(InetAddress address) {
    byte[] bytes = address.getAddress();
    if (bytes.length != first.length) {
      return false;
    }
    for (int bit = 0; bit < bits; bit += 8) {
      int mask = bits - bit >= 8 ? 0xff : (0xff << (8 - (bits - bit))) & 0xff;
      if (((bytes[bit / 8] ^ first[bit / 8]) & mask) != 0) {
        return false;
      }
    }
    return true;
  }

  /** A literal address; an IPv4-mapped IPv6 address becomes IPv4. */
  static Optional<InetAddress> address(String literal) {
    byte @Nullable [] bytes = NetUtil.createByteArrayFromIpAddressString(literal);
    if (bytes == null || literal.indexOf('%') >= 0 || literal.startsWith("[")) {
      return Optional.empty();
    }
    try {
      return Optional.of(InetAddress.getByAddress(bytes));
    } catch (UnknownHostException e) {
      return Optional.empty();
    }
  }

  private static int prefix(String text, int most) {
    int bits = text.matches("\\d{1,3}") ? Integer.parseInt(text) : -1;
    return bits <= most ? bits : -1;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof AddressRange range && range.text.equals(text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  @Override
  public String toString() {
    return text;
  }
}
