package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A client that waits to be told to send its body may keep it after a final answer. What it sends
 * next would be read as that body, so the connection ends (RFC 9110, section 10.1.1).
 */
@Timeout(120)
class ExpectContinueTest {
  private static final String BODY = "{\"role\":\"service\",\"name\":\"expected\"}";

  @RegisterExtension static final RunningServer server = new RunningServer();

  @ParameterizedTest
  @CsvSource({
    "/v1/keys,    '', 37, 401",
    "/v1/keys, wrong, 37, 401",
    "/nowhere,    '', 37, 404",
    "/healthz,    '', 37, 405",
    "/v1/keys,    ok, 99999999, 413",
  })
  void aFinalAnswerInsteadOfContinueEndsTheConnection(
      String path, String key, int length, int status) throws Exception {
    for (String framing :
        new String[] {"Content-Length: " + length, "Transfer-Encoding: chunked"}) {
      if (status != 413 || framing.startsWith("C")) {
        try (RawHttp client = RawHttp.to(server.url())) {
          client.send(head(path, "HTTP/1.1", key, framing));
          RawHttp.Got answer = client.read();
          assertThat(answer.status()).as(answer.body()).isEqualTo(status);
          assertThat(answer.headers()).containsEntry("connection", "close");
          client.trySend("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n");
          client.expectEnd();
        }
      }
    }
  }

  @Test
  void anAnswerBeforeTheOneThatWaitsKeepsTheConnection() throws Exception {
    try (RawHttp client = RawHttp.to(server.url())) {
      client.send(
          "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
              + head("/v1/keys", "HTTP/1.1", "ok", "Content-Length: " + BODY.length()));
      RawHttp.Got first = client.read();
      assertThat(first.status()).isEqualTo(200);
      assertThat(first.headers()).doesNotContainKey("connection");
      assertThat(client.read().status()).isEqualTo(100);
      assertThat(client.send(BODY).read().status()).isEqualTo(201);
      assertThat(client.get("/healthz").read().status()).isEqualTo(200);
    }
  }

  @Test
  void aClientOfHttp10IsNotToldToContinue() throws Exception {
    try (RawHttp client = RawHttp.to(server.url())) {
      client.send(
          head("/v1/keys", "HTTP/1.0", "ok", "Content-Length: " + BODY.length())
              + BODY.substring(0, 5));
      client.send(BODY.substring(5));
      assertThat(client.read().status()).isEqualTo(201);
    }
  }

  private static String head(String path, String version, String key, String framing) {
    String authorization =
        key.isEmpty()
            ? ""
            : "Authorization: Bearer "
                + (key.equals("ok") ? RunningServer.OPERATOR_KEY : key)
                + "\r\n";
    return "POST "
        + path
        + " "
        + version
        + "\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Type: application/json\r\n"
        + authorization
        + framing
        + "\r\n\r\n";
  }
}
