package dev.lockstep.server.edge;

import dev.lockstep.server.api.Caller;
import io.vertx.core.MultiMap;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Finds the client behind proxies. Each proxy appends the address that asked it, so the list is
 * read from right to left while the writer of the entry is trusted. The first address that is not a
 * trusted proxy is the client. Anything further left may be invented, and an entry that is not an
 * address ends the search.
 *
 * <p>Only the header family that the proxies write is read; they pass the other family through, so
 * that one is the client's own. If the configuration does not name the family and the two disagree,
 * both are ignored, since one of them is invented.
 */
final class Forwarding {
  private static final String FORWARDED = "Forwarded";
  private static final String FORWARDED_FOR = "X-Forwarded-For";
  private static final String FORWARDED_PROTO = "X-Forwarded-Proto";
  private static final String FORWARDED_HOST = "X-Forwarded-Host";

  private static final List<String> X_FORWARDED =
      List.of(FORWARDED_FOR, FORWARDED_PROTO, FORWARDED_HOST);

  /** Headers that reveal a proxy. */
  private static final List<String> TRACES =
      List.of(
          FORWARDED,
          FORWARDED_FOR,
          FORWARDED_PROTO,
          FORWARDED_HOST,
          "X-Forwarded-Server",
          "X-Real-IP",
          "Via");

  /** What may follow an address: a port, or an obfuscated port (RFC 7239, section 6). */
  private static final String PORT = "(?::(?:\\d{1,5}|_[\\w.-]{1,32}))?";

  private static final Pattern BRACKETED = Pattern.compile("\\[([^\\]]*)]" + PORT);
  private static final Pattern BARE = Pattern.compile("([^:]*)" + PORT);

  /** More hops than any real chain of proxies; entries further left are ignored. */
  private static final int MAX_HOPS = 32;

  private static final String TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]++";

  /** Possessive: a group that can backtrack costs one stack frame per character. */
  private static final Pattern PAIR =
      Pattern.compile("\\s*+(" + TOKEN + ")=(" + TOKEN + "|\"(?:[^\"\\\\]|\\\\.)*+\")\\s*+");

  private final Trust trust;

  Forwarding(Trust trust) {
    this.trust = trust;
  }

  /** One hop as a proxy reports it; unreported parts are empty. */
  private record Hop(
      Optional<InetAddress> address, Optional<String> proto, Optional<String> host) {}

  Caller caller(InetAddress peer, MultiMap headers) {
    Optional<String> host = Optional.ofNullable(headers.get("Host"));
    boolean direct = TRACES.stream().noneMatch(headers::contains);
    if (direct || !trust.isProxy(peer)) {
      return new Caller(peer, false, host, direct);
    }
    return switch (trust.header()) {
      case X_FORWARDED -> behind(peer, host, xForwarded(headers));
      case FORWARDED -> behind(peer, host, forwarded(headers));
      case EITHER -> either(peer, host, headers);
    };
  }

  private Caller either(InetAddress peer, Optional<String> host, MultiMap headers) {
    if (!headers.contains(FORWARDED)) {
      return behind(peer, host, xForwarded(headers));
    }
    Caller told = behind(peer, host, forwarded(headers));
    boolean agreed =
        X_FORWARDED.stream().noneMatch(headers::contains)
            || told.equals(behind(peer, host, xForwarded(headers)));
    return agreed ? told : behind(peer, host, List.of());
  }

  private Caller behind(InetAddress peer, Optional<String> host, List<Hop> hops) {
    InetAddress client = peer;
    Optional<String> proto = Optional.empty();
    Optional<String> asked = Optional.empty();
    for (int i = hops.size() - 1; i >= 0 && trust.isProxy(client); i--) {
      Hop hop = hops.get(i);
      proto = hop.proto();
      asked = hop.host();
      if (hop.address().isEmpty()) {
        break;
      }
      client = hop.address().get();
    }
    return new Caller(
        client,
        proto.filter("https"::equalsIgnoreCase).isPresent(),
        asked.filter(HostName::wellFormed).or(() -> host),
        false);
  }

  /** RFC 7239, section 4. A malformed element is ignored. */
  private static List<Hop> forwarded(MultiMap headers) {
    List<Hop> hops = new ArrayList<>();
    // Line by line, so that a quote left open by the client cannot swallow the proxy's line.
    for (String line : headers.getAll(FORWARDED)) {
      split(line, ',').forEach(element -> hops.add(element(element)));
    }
    return last(hops);
  }

  private static Hop element(String text) {
    Optional<InetAddress> address = Optional.empty();
    Optional<String> proto = Optional.empty();
    Optional<String> host = Optional.empty();
    for (String part : split(text, ';')) {
      Matcher pair = PAIR.matcher(part);
      if (!pair.matches()) {
        return new Hop(Optional.empty(), Optional.empty(), Optional.empty());
      }
      String value = unquoted(pair.group(2));
      switch (pair.group(1).toLowerCase(Locale.ROOT)) {
        case "for" -> address = node(value);
        case "proto" -> proto = Optional.of(value);
        case "host" -> host = Optional.of(value);
        default -> {
          // "by" and future parameters.
        }
      }
    }
    return new Hop(address, proto, host);
  }

  /** Proto and host have one entry per hop, or a single entry from the nearest proxy. */
  private static List<Hop> xForwarded(MultiMap headers) {
    List<String> addresses = list(headers, FORWARDED_FOR);
    List<String> protos = list(headers, FORWARDED_PROTO);
    List<String> hosts = list(headers, FORWARDED_HOST);
    if (addresses.isEmpty()) {
      return List.of(new Hop(Optional.empty(), nearest(protos), nearest(hosts)));
    }
    List<Hop> hops = new ArrayList<>();
    for (int i = 0; i < addresses.size(); i++) {
      hops.add(
          new Hop(
              node(addresses.get(i)),
              protos.size() == addresses.size() ? Optional.of(protos.get(i)) : nearest(protos),
              hosts.size() == addresses.size() ? Optional.of(hosts.get(i)) : nearest(hosts)));
    }
    return last(hops);
  }

  private static Optional<String> nearest(List<String> values) {
    return values.isEmpty() ? Optional.empty() : Optional.of(values.get(values.size() - 1));
  }

  /** These lists have no quoting: a quote from the client must not hide what the proxy appended. */
  private static List<String> list(MultiMap headers, String name) {
    return headers.getAll(name).stream()
        .flatMap(line -> Stream.of(line.split(",", -1)))
        .map(String::strip)
        .toList();
  }

  private static List<Hop> last(List<Hop> hops) {
    return hops.subList(Math.max(0, hops.size() - MAX_HOPS), hops.size());
  }

  /** An address with an optional port: {@code 192.0.2.1:80}, {@code [2001:db8::1]:80}. */
  private static Optional<InetAddress> node(String value) {
    Matcher bracketed = BRACKETED.matcher(value);
    if (bracketed.matches()) {
      return AddressRange.address(bracketed.group(1));
    }
    Matcher bare = BARE.matcher(value);
    // Several colons without brackets: an IPv6 address without a port.
    return AddressRange.address(bare.matches() ? bare.group(1) : value);
  }

  /** Splits at separators outside quotes. */
  private static List<String> split(String text, char separator) {
    List<String> parts = new ArrayList<>();
    boolean quoted = false;
    int begin = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (quoted && c == '\\') {
        i++;
      } else if (c == '"') {
        quoted = !quoted;
      } else if (c == separator && !quoted) {
        parts.add(text.substring(begin, i));
        begin = i + 1;
      }
    }
    parts.add(text.substring(begin));
    return parts;
  }

  private static String unquoted(String value) {
    return value.startsWith("\"")
        ? value.substring(1, value.length() - 1).replaceAll("\\\\(.)", "$1")
        : value;
  }
}
