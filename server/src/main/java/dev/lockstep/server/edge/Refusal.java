package dev.lockstep.server.edge;

import dev.lockstep.server.api.Problem;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Why a request is refused as sent. Two servers that read the same bytes as different requests are
 * a security hole, so ambiguous requests are not read at all: the connection ends with the answer.
 */
final class Refusal extends Exception {
  private static final long serialVersionUID = 1L;

  private static final Set<HttpMethod> METHODS =
      Set.of(
          HttpMethod.GET,
          HttpMethod.HEAD,
          HttpMethod.POST,
          HttpMethod.PUT,
          HttpMethod.PATCH,
          HttpMethod.DELETE,
          HttpMethod.OPTIONS);

  /** Each header takes a hundred bytes beyond its own for as long as the request lasts. */
  private static final int MAX_HEADERS = 100;

  private final transient Problem problem;

  private Refusal(Problem problem) {
    super(problem.detail(), null, false, false);
    this.problem = problem;
  }

  /** Checks a request whose head was parsed. */
  static Optional<Refusal> of(HttpRequest request) {
    return Optional.ofNullable(wrong(request)).map(Refusal::new);
  }

  /** For a head that was parsed but should not have been. */
  static Refusal malformed(String detail) {
    return new Refusal(Problem.badRequest(detail));
  }

  /** The answer, given the decoder's failure or the result of {@link #of}. */
  static Problem problem(@Nullable Throwable cause) {
    if (cause instanceof Refusal refusal) {
      return refusal.problem;
    }
    if (cause instanceof TooLongHttpLineException) {
      return Problem.of("uri-too-long", 414, "URI too long", "The request line is too long.");
    }
    if (cause instanceof TooLongHttpHeaderException) {
      return tooLarge("The headers are too large.");
    }
    return Problem.badRequest("The request is malformed.");
  }

  /** The decoder returns these two constants only for their exact spelling. */
  @SuppressWarnings("ReferenceEquality")
  private static boolean isSpoken(HttpVersion version) {
    return version == HttpVersion.HTTP_1_1 || version == HttpVersion.HTTP_1_0;
  }

  private static @Nullable Problem wrong(HttpRequest request) {
    if (!isSpoken(request.protocolVersion())) {
      return Problem.of(
          "http-version-not-supported",
          505,
          "HTTP version not supported",
          "This server speaks HTTP/1.1 and HTTP/1.0.");
    }
    if (!METHODS.contains(request.method())) {
      return notImplemented(
          "This server does not know the method " + shown(request.method().name()) + " here.");
    }
    HttpHeaders headers = request.headers();
    if (moreThan(MAX_HEADERS, headers)) {
      return tooLarge("A request may have at most " + MAX_HEADERS + " headers.");
    }
    if (headers.contains("")) {
      return Problem.badRequest("A header must have a name.");
    }
    List<String> codings = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
    if (!codings.isEmpty()
        && (codings.size() > 1 || !codings.get(0).strip().equalsIgnoreCase("chunked"))) {
      return notImplemented("The only supported transfer coding is chunked.");
    }
    List<String> expected = headers.getAll(HttpHeaderNames.EXPECT);
    if (!expected.isEmpty()
        && (expected.size() > 1 || !expected.get(0).equalsIgnoreCase("100-continue"))) {
      return Problem.of(
          "expectation-failed",
          417,
          "Expectation failed",
          "The only supported expectation is 100-continue.");
    }
    return wrongHost(request, request.protocolVersion());
  }

  private static @Nullable Problem wrongHost(HttpRequest request, HttpVersion version) {
    List<String> hosts = request.headers().getAll(HttpHeaderNames.HOST);
    if (hosts.size() > 1) {
      return Problem.badRequest("A request must have one Host header.");
    }
    if (hosts.isEmpty() && version.equals(HttpVersion.HTTP_1_1)) {
      return Problem.badRequest("An HTTP/1.1 request must have a Host header.");
    }
    if (!hosts.isEmpty() && !HostName.wellFormed(hosts.get(0))) {
      return Problem.badRequest("The Host header is malformed.");
    }
    if (request.uri().equals("*") && request.method().equals(HttpMethod.OPTIONS)) {
      return null;
    }
    String wrong = Target.wrong(request.uri(), hosts.stream().findFirst());
    return wrong == null ? null : Problem.badRequest(wrong);
  }

  /** {@code size()} counts distinct names, and one name may occur often. */
  private static boolean moreThan(int most, HttpHeaders headers) {
    int number = 0;
    for (var each = headers.iteratorCharSequence(); each.hasNext() && number <= most; number++) {
      each.next();
    }
    return number > most;
  }

  private static Problem tooLarge(String detail) {
    return Problem.of("headers-too-large", 431, "Headers too large", detail);
  }

  private static Problem notImplemented(String detail) {
    return Problem.of("not-implemented", 501, "Not implemented", detail);
  }

  /** Shortens a client's text. */
  private static String shown(String text) {
    return text.length() > 32 ? text.substring(0, 32) + "…" : text;
  }
}
