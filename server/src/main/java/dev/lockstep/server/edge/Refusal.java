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
 * Why a request is not served as it stands. Two servers in a row that read the same bytes as
 * different requests are a hole; so what can be read in two ways is not read at all, and the
 * connection ends with the answer.
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

  /** Each takes a hundred bytes of memory besides its own, for as long as the request lasts. */
  private static final int MAX_HEADERS = 100;

  private final transient Problem problem;

  private Refusal(Problem problem) {
    super(problem.detail(), null, false, false);
    this.problem = problem;
  }

  /** Of a request whose head could be parsed. */
  static Optional<Refusal> of(HttpRequest request) {
    return Optional.ofNullable(wrong(request)).map(Refusal::new);
  }

  /** Of one whose head could be parsed, and should not have been. */
  static Refusal malformed(String detail) {
    return new Refusal(Problem.badRequest(detail));
  }

  /** What to answer, given what the decoder or {@link #of} has to say. */
  static Problem problem(@Nullable Throwable cause) {
    if (cause instanceof Refusal refusal) {
      return refusal.problem;
    }
    if (cause instanceof TooLongHttpLineException) {
      return Problem.of("uri-too-long", 414, "URI too long", "The request line is too long.");
    }
    if (cause instanceof TooLongHttpHeaderException) {
      return tooLarge("The headers have too many bytes.");
    }
    return Problem.badRequest("The request is not well formed.");
  }

  /** The decoder returns these two constants for their exact spelling only. */
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
      return notImplemented("There is no method " + shown(request.method().name()) + " here.");
    }
    HttpHeaders headers = request.headers();
    if (moreThan(MAX_HEADERS, headers)) {
      return tooLarge("A request has at most " + MAX_HEADERS + " headers.");
    }
    if (headers.contains("")) {
      return Problem.badRequest("A header has a name.");
    }
    List<String> codings = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
    if (!codings.isEmpty()
        && (codings.size() > 1 || !codings.get(0).strip().equalsIgnoreCase("chunked"))) {
      return notImplemented("The only transfer coding here is chunked.");
    }
    List<String> expected = headers.getAll(HttpHeaderNames.EXPECT);
    if (!expected.isEmpty()
        && (expected.size() > 1 || !expected.get(0).equalsIgnoreCase("100-continue"))) {
      return Problem.of(
          "expectation-failed", 417, "Expectation failed", "Only 100-continue can be expected.");
    }
    return wrongHost(request, request.protocolVersion());
  }

  private static @Nullable Problem wrongHost(HttpRequest request, HttpVersion version) {
    List<String> hosts = request.headers().getAll(HttpHeaderNames.HOST);
    if (hosts.size() > 1) {
      return Problem.badRequest("A request has one Host header.");
    }
    if (hosts.isEmpty() && version.equals(HttpVersion.HTTP_1_1)) {
      return Problem.badRequest("A request of HTTP/1.1 has a Host header.");
    }
    if (!hosts.isEmpty() && !HostName.wellFormed(hosts.get(0))) {
      return Problem.badRequest("The Host header is not well formed.");
    }
    if (request.uri().equals("*") && request.method().equals(HttpMethod.OPTIONS)) {
      return null;
    }
    String wrong = Target.wrong(request.uri(), hosts.stream().findFirst());
    return wrong == null ? null : Problem.badRequest(wrong);
  }

  /** Their size counts names, and one name may be there often. */
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

  /** A client's own text, short. */
  private static String shown(String text) {
    return text.length() > 32 ? text.substring(0, 32) + "…" : text;
  }
}
