package dev.lockstep.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** Requests byte by byte, as no library would send them. */
final class RawRequest {
  private RawRequest() {}

  /** What was answered. */
  record Got(int status, String type, String body) {
    /** The last word of the problem's type. */
    String slug() {
      assertThat(type).as(body).isEqualTo("application/problem+json");
      JsonObject problem;
      try {
        problem = new JsonObject(body);
      } catch (DecodeException e) {
        throw new AssertionError("No problem document: " + body, e);
      }
      assertThat(problem.getInteger("status")).isEqualTo(status);
      assertThat(problem.getString("title")).isNotBlank();
      assertThat(problem.getString("detail")).isNotBlank().doesNotContain("Exception");
      assertThat(problem.getString("requestId")).isNotBlank();
      return problem.getString("type").substring("https://lockstep.dev/problems/".length());
    }
  }

  /**
   * @param key the header {@code Authorization}; empty: none
   */
  static Got exchange(
      String server, String firstLine, String key, byte[] body, Map<String, String> headers)
      throws IOException {
    URI url = URI.create(server);
    StringBuilder head = new StringBuilder();
    head.append(firstLine).append(" HTTP/1.1\r\n");
    head.append("Host: localhost\r\nConnection: close\r\n");
    Map<String, String> all = new LinkedHashMap<>();
    if (!key.isEmpty()) {
      all.put("Authorization", key);
    }
    if (body.length > 0) {
      all.put("Content-Type", "application/json; charset=UTF-8");
    }
    all.put("Content-Length", String.valueOf(body.length));
    all.putAll(headers);
    all.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    head.append("\r\n");
    try (Socket socket = new Socket(url.getHost(), url.getPort())) {
      socket.setSoTimeout(60_000);
      ByteArrayOutputStream request = new ByteArrayOutputStream();
      request.writeBytes(head.toString().getBytes(ISO_8859_1));
      request.writeBytes(body);
      socket.getOutputStream().write(request.toByteArray());
      String answer = new String(socket.getInputStream().readAllBytes(), UTF_8);
      int end = answer.indexOf("\r\n\r\n");
      String top = answer.substring(0, end);
      String type =
          top.lines()
              .filter(line -> line.toLowerCase(Locale.ROOT).startsWith("content-type:"))
              .map(line -> line.substring("content-type:".length()).strip())
              .findFirst()
              .orElse("");
      return new Got(Integer.parseInt(top.split(" ", 3)[1]), type, answer.substring(end + 4));
    }
  }
}
