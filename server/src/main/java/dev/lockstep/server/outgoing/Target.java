package dev.lockstep.server.outgoing;

import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The target of a request: an http or https URL without credentials or fragment. Created by {@link
 * #parse}, which refuses whatever is wrong without a look-up; names are resolved when a request is
 * sent.
 *
 * @param host as in the URL, lower case; an IPv6 address in brackets
 * @param port the scheme's default if the URL has none
 * @param path with the query
 */
public record Target(boolean secure, String host, int port, String path) {
  public static final int MAX_LENGTH = 2_000;

  private static final int MAX_PORT = 65_535;
  private static final Pattern DOTTED_QUAD =
      Pattern.compile("(?:(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)(?:\\.(?!$)|$)){4}");
  // The last label of a name must not be numeric: some parsers read such names as addresses.
  private static final Pattern ENDS_IN_NUMBER =
      Pattern.compile("(?:.*\\.)?(?:\\d+|0[xX][0-9a-fA-F]*)\\.?");

  /**
   * Parses a URL.
   *
   * @param allowPrivate whether addresses of this machine and its networks are allowed
   * @throws IllegalArgumentException with a message that follows the URL's name
   */
  public static Target parse(String url, boolean allowPrivate) {
    URI uri = uri(url);
    boolean secure = "https".equalsIgnoreCase(uri.getScheme());
    if (!secure && !"http".equalsIgnoreCase(uri.getScheme())) {
      throw new IllegalArgumentException("must begin with https:// or http://");
    }
    if (uri.getRawUserInfo() != null || authority(uri).contains("@")) {
      throw new IllegalArgumentException("must not have a user or a password in it");
    }
    if (uri.getRawFragment() != null) {
      throw new IllegalArgumentException("must not have a fragment, which is never sent");
    }
    String host = uri.getHost();
    if (host == null || host.isEmpty()) {
      throw new IllegalArgumentException("must name a host, in ASCII");
    }
    int port = uri.getPort() < 0 ? (secure ? 443 : 80) : uri.getPort();
    if (port < 1 || port > MAX_PORT) {
      throw new IllegalArgumentException("must have a port from 1 to " + MAX_PORT);
    }
    Target target = new Target(secure, host.toLowerCase(Locale.ROOT), port, path(uri));
    target.checkHost(allowPrivate);
    return target;
  }

  /** Scheme, host and port, which identify the receiver's server. */
  public String origin() {
    return (secure ? "https://" : "http://") + authority();
  }

  /** Host and port, which slow answers are attributed to. */
  public String receiver() {
    return host + ":" + port;
  }

  /** The Host header: without a default port. */
  String authority() {
    return port == (secure ? 443 : 80) ? host : host + ":" + port;
  }

  @Override
  public String toString() {
    return origin() + path;
  }

  private static URI uri(String url) {
    if (url.length() > MAX_LENGTH) {
      throw new IllegalArgumentException("must have at most " + MAX_LENGTH + " characters");
    }
    try {
      return new URI(url).parseServerAuthority();
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("must be a URL such as https://example.com/hook", e);
    }
  }

  private static String authority(URI uri) {
    return uri.getRawAuthority() == null ? "" : uri.getRawAuthority();
  }

  /** As sent: other characters than ASCII become percent-encoded UTF-8. */
  private static String path(URI given) {
    URI uri = URI.create(given.toASCIIString());
    String path = uri.getRawPath() == null || uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
    return uri.getRawQuery() == null ? path : path + "?" + uri.getRawQuery();
  }

  private void checkHost(boolean allowPrivate) {
    boolean bracketed = host.startsWith("[");
    if (host.contains("%")) {
      throw new IllegalArgumentException("must not have a zone in its address");
    }
    if (!bracketed && !isAscii(host)) {
      throw new IllegalArgumentException("must name a host, in ASCII");
    }
    boolean quad = DOTTED_QUAD.matcher(host).matches();
    if (!bracketed && !quad && ENDS_IN_NUMBER.matcher(host).matches()) {
      throw new IllegalArgumentException("must have an address of four decimal numbers, or a name");
    }
    if (allowPrivate) {
      return;
    }
    if (bracketed || quad) {
      otherPurpose().ifPresent(Target::refuse);
    } else if (isLocalName(host)) {
      refuse("loopback");
    }
  }

  /** Of a literal address, without a look-up. */
  private Optional<String> otherPurpose() {
    try {
      return PublicAddress.otherPurpose(InetAddress.getByName(bareHost()));
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("must have a valid address", e);
    }
  }

  String bareHost() {
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  private static void refuse(String purpose) {
    throw new IllegalArgumentException("must not lead to a " + purpose + " address");
  }

  private static boolean isLocalName(String host) {
    String name = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
    return name.equals("localhost") || name.endsWith(".localhost");
  }

  private static boolean isAscii(String text) {
    return text.chars().allMatch(c -> c < 128);
  }
}
