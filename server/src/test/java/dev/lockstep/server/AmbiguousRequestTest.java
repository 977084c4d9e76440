package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.edge.EdgeConfig;
import dev.lockstep.server.http.HttpApi;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What can be read in two ways, or in none, is refused with a problem, and nothing that follows on
 * the same connection is read as a request.
 */
@Timeout(120)
class AmbiguousRequestTest {
  private static final String HOST = "Host: localhost\r\n";

  /** What would be taken for a request of its own by somebody who reads the first one shorter. */
  private static final String SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";

  private static HttpApi api;

  private record Wrong(String name, String request, int status, String slug) {}

  @BeforeAll
  static void listen() {
    api = HttpApi.listen("127.0.0.1", 0, EdgeConfig.DEFAULT);
  }

  @AfterAll
  static void close() {
    api.close();
  }

  @TestFactory
  Stream<DynamicTest> itIsRefusedWithAProblemAndTheConnectionEnds() {
    return Stream.of(
            wrong(
                "Content-Length with Transfer-Encoding",
                post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n",
                400,
                "bad-request"),
            wrong(
                "a transfer coding that only looks like chunked",
                post("Transfer-Encoding: xchunked\r\n") + "0\r\n\r\n",
                400,
                "bad-request"),
            wrong(
                "chunked, and then something else",
                post("Transfer-Encoding: chunked, identity\r\n") + "0\r\n\r\n",
                400,
                "bad-request"),
            wrong(
                "a transfer coding that is not known",
                post("Transfer-Encoding: gzip, chunked\r\n") + "0\r\n\r\n",
                501,
                "not-implemented"),
            wrong(
                "chunked twice",
                post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n",
                400,
                "bad-request"),
            wrong(
                "a transfer coding in HTTP/1.0",
                "POST / HTTP/1.0\r\n" + HOST + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                400,
                "bad-request"),
            wrong(
                "two lengths",
                post("Content-Length: 4\r\nContent-Length: 5\r\n") + "abcd",
                400,
                "bad-request"),
            wrong(
                "two lengths in one",
                post("Content-Length: 4, 5\r\n") + "abcd",
                400,
                "bad-request"),
            wrong(
                "a length with a sign",
                post("Content-Length: +4\r\n") + "abcd",
                400,
                "bad-request"),
            wrong(
                "two hosts",
                "GET /healthz HTTP/1.1\r\n" + HOST + "Host: evil.example\r\n\r\n",
                400,
                "bad-request"),
            wrong(
                "the same host twice",
                "GET /healthz HTTP/1.1\r\n" + HOST + HOST + "\r\n",
                400,
                "bad-request"),
            wrong("no host", "GET /healthz HTTP/1.1\r\n\r\n", 400, "bad-request"),
            wrong("an empty host", get("Host: \r\n"), 400, "bad-request"),
            wrong("a host with a path", get("Host: localhost/x\r\n"), 400, "bad-request"),
            wrong("a host with a user", get("Host: a@localhost\r\n"), 400, "bad-request"),
            wrong("a host with a list", get("Host: localhost, evil\r\n"), 400, "bad-request"),
            wrong("a host with a bad port", get("Host: localhost:80x\r\n"), 400, "bad-request"),
            wrong(
                "a target of another host",
                "GET http://evil.example/healthz HTTP/1.1\r\n" + HOST + "\r\n",
                400,
                "bad-request"),
            wrong("no request line", "NONSENSE\r\n\r\n", 400, "bad-request"),
            wrong("a header without a name", get(HOST + ": x\r\n"), 400, "bad-request"),
            wrong("a header name with a space", get(HOST + "A b: x\r\n"), 400, "bad-request"),
            wrong(
                "a space before the colon",
                get(HOST + "Content-Length : 4\r\n"),
                400,
                "bad-request"),
            wrong(
                "a header that goes on in the next line",
                get(HOST + "X: a\r\n b\r\n"),
                400,
                "bad-request"),
            wrong(
                "a transfer coding in the next line",
                post("Transfer-Encoding:\r\n chunked\r\n") + "0\r\n\r\n",
                400,
                "bad-request"),
            wrong(
                "a first header that goes on from the request line",
                "GET /healthz HTTP/1.1\r\n X: a\r\n" + HOST + "\r\n",
                400,
                "bad-request"),
            wrong(
                "tabs in the request line",
                "GET\t/healthz\tHTTP/1.1\r\n" + HOST + "\r\n",
                400,
                "bad-request"),
            wrong(
                "two spaces in the request line",
                "GET  /healthz HTTP/1.1\r\n" + HOST + "\r\n",
                400,
                "bad-request"),
            wrong(
                "a space before the request line",
                " GET /healthz HTTP/1.1\r\n" + HOST + "\r\n",
                400,
                "bad-request"),
            wrong(
                "a space behind the request line",
                "GET /healthz HTTP/1.1 \r\n" + HOST + "\r\n",
                400,
                "bad-request"),
            wrong("too many headers", get(HOST + "A: b\r\n".repeat(100)), 431, "headers-too-large"),
            wrong(
                "HTTP/2 with prior knowledge",
                "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                505,
                "http-version-not-supported"),
            wrong(
                "a control character in the request line",
                "GET /healthz?\u0001 HTTP/1.1\r\n" + HOST + "\r\n",
                400,
                "bad-request"),
            wrong(
                "a version that there is not",
                "GET /healthz HTTP/1.2\r\n" + HOST + "\r\n",
                505,
                "http-version-not-supported"),
            wrong(
                "a version in small letters",
                "GET /healthz http/1.1\r\n" + HOST + "\r\n",
                505,
                "http-version-not-supported"),
            wrong(
                "an old version in mixed letters",
                "GET /healthz HtTP/1.0\r\n" + HOST + "\r\n",
                505,
                "http-version-not-supported"),
            wrong(
                "a request line that is too long",
                "GET /" + "a".repeat(5_000) + " HTTP/1.1\r\n" + HOST + "\r\n",
                414,
                "uri-too-long"),
            wrong(
                "headers that are too large",
                get(HOST + "X-Large: " + "a".repeat(9_000) + "\r\n"),
                431,
                "headers-too-large"),
            wrong(
                "an expectation that is not known",
                get(HOST + "Expect: miracles\r\n"),
                417,
                "expectation-failed"),
            wrong(
                "two expectations",
                get(HOST + "Expect: 100-continue\r\nExpect: miracles\r\n"),
                417,
                "expectation-failed"),
            wrong("TRACE", "TRACE /healthz HTTP/1.1\r\n" + HOST + "\r\n", 501, "not-implemented"),
            wrong(
                "CONNECT",
                "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
                501,
                "not-implemented"),
            wrong(
                "a method that nobody knows",
                "FETCH /healthz HTTP/1.1\r\n" + HOST + "\r\n",
                501,
                "not-implemented"))
        .map(wrong -> DynamicTest.dynamicTest(wrong.name(), () -> check(wrong)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a/b://localhost/healthz",
        "ftp://localhost/healthz",
        "://localhost/healthz",
        "http:/localhost/healthz",
        "http://a@localhost/healthz",
        "http://localhost//healthz",
        "localhost/healthz",
        "healthz",
        "*",
        "//healthz",
        "//localhost/healthz",
        "/v1//campaigns",
        "/healthz//",
        "/./healthz",
        "/v1/../healthz",
        "/v1/%2e%2e/healthz",
        "/v1/.%2E/healthz",
        "/%2e/healthz",
        "/healthz/..",
        "/healthz/%2e",
        "/v1\\..\\healthz",
        "/healthz#here"
      })
  void aTargetThatCanBeReadInTwoWaysIsRefused(String target) throws Exception {
    check(wrong(target, "GET " + target + " HTTP/1.1\r\n" + HOST + "\r\n", 400, "bad-request"));
  }

  @Test
  void anOldRequestWithoutHostNamesNoneInItsTarget() throws Exception {
    check(wrong("", "GET http://evil.example/healthz HTTP/1.0\r\n\r\n", 400, "bad-request"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/healthz",
        "/healthz/",
        "/healthz?a=//b/../c",
        "HTTP://LOCALHOST/healthz",
        "https://localhost/healthz"
      })
  void aTargetThatCanBeReadInOneWayIsServed(String target) throws Exception {
    try (RawHttp client = RawHttp.to(url())) {
      client.send("GET " + target + " HTTP/1.1\r\n" + HOST + "\r\n");
      assertThat(client.read().status()).isEqualTo(200);
    }
  }

  @Test
  void anUpgradeToHttp2IsNotTaken() throws Exception {
    try (RawHttp client = RawHttp.to(url())) {
      client.send(
          get(
              HOST
                  + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                  + "HTTP2-Settings: AAMAAABkAAQAAP__\r\n"));
      assertThat(client.read().status()).isEqualTo(200);
      // Still HTTP/1.1.
      assertThat(client.get("/healthz").read().status()).isEqualTo(200);
    }
  }

  @Test
  void anUnknownVersionIsAnsweredInOneThatWeSpeak() throws Exception {
    try (RawHttp client = RawHttp.to(url())) {
      client.send("GET /healthz HTTP/1.2\r\n" + HOST + "\r\n");
      assertThat(client.readUntil("HTTP/")).startsWith("HTTP/1.1 505 ");
    }
  }

  @Test
  void aHeadMayArriveByteByByte() throws Exception {
    try (RawHttp client = RawHttp.to(url())) {
      for (char c : ("\r\n" + get(HOST + "X: a\r\n")).toCharArray()) {
        client.send(String.valueOf(c));
      }
      assertThat(client.read().status()).isEqualTo(200);
      for (char c : get(HOST + "X: a\r\n b\r\n").toCharArray()) {
        client.send(String.valueOf(c));
      }
      client.read().expectProblem(400, "bad-request");
    }
  }

  @Test
  void whatIsWellFormedIsServed() throws Exception {
    for (String host :
        new String[] {"localhost", "localhost:8080", "a-b.example", "[::1]:8080", "127.0.0.1"}) {
      try (RawHttp client = RawHttp.to(url())) {
        assertThat(client.send(get("Host: " + host + "\r\n")).read().status()).isEqualTo(200);
      }
    }
    try (RawHttp client = RawHttp.to(url())) {
      client.send("GET http://localhost/healthz HTTP/1.1\r\n" + HOST + "\r\n");
      assertThat(client.read().status()).isEqualTo(200);
    }
    try (RawHttp client = RawHttp.to(url())) {
      assertThat(client.send("GET /healthz HTTP/1.0\r\n\r\n").read().status()).isEqualTo(200);
    }
  }

  @Test
  void optionsSayWhatMayBeAskedAndOpenNothing() throws Exception {
    try (RawHttp client = RawHttp.to(url())) {
      client.send(
          "OPTIONS /healthz HTTP/1.1\r\n"
              + HOST
              + "Origin: http://evil.example\r\nAccess-Control-Request-Method: GET\r\n\r\n");
      RawHttp.Got answer = client.read();
      assertThat(answer.status()).isEqualTo(204);
      assertThat(answer.headers()).containsEntry("allow", "GET, HEAD, OPTIONS");
      assertThat(answer.headers().keySet()).noneMatch(name -> name.startsWith("access-control"));
      client.send("OPTIONS /nowhere HTTP/1.1\r\n" + HOST + "\r\n");
      client.read().expectProblem(404, "not-found");
      client.send("OPTIONS * HTTP/1.1\r\n" + HOST + "\r\n");
      assertThat(client.read().status()).isEqualTo(204);
    }
  }

  private static void check(Wrong wrong) throws Exception {
    try (RawHttp client = RawHttp.to(url())) {
      client.send(wrong.request() + SMUGGLED);
      RawHttp.Got answer = client.read();
      answer.expectProblem(wrong.status(), wrong.slug());
      assertThat(answer.headers()).containsEntry("connection", "close");
      client.expectEnd();
    }
  }

  private static Wrong wrong(String name, String request, int status, String slug) {
    return new Wrong(name, request, status, slug);
  }

  private static String get(String headers) {
    return "GET /healthz HTTP/1.1\r\n" + headers + "\r\n";
  }

  private static String post(String headers) {
    return "POST /healthz HTTP/1.1\r\n" + HOST + headers + "\r\n";
  }

  private static String url() {
    return "http://127.0.0.1:" + api.port();
  }
}
