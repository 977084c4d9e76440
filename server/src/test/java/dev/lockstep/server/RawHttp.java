package dev.lockstep.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A connection of whose bytes the test has a say in every one. */
public final class RawHttp implements AutoCloseable {
  private static final String PROBLEMS = "https://lockstep.dev/problems/";

  private final Socket socket;
  private final InputStream in;

  private RawHttp(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new BufferedInputStream(socket.getInputStream());
  }

  /** What came back; headers with their names in lower case. */
  public record Got(int status, Map<String, String> headers, String body) {
    /** The last word of the type of a problem, which is complete as the contract says. */
    public String slug() {
      assertThat(headers).as(body).containsEntry("content-type", "application/problem+json");
      JsonObject problem;
      try {
        problem = new JsonObject(body);
      } catch (DecodeException e) {
        throw new AssertionError("No problem document: " + body, e);
      }
      assertThat(problem.getInteger("status")).isEqualTo(status);
      assertThat(problem.getString("title")).isNotBlank();
      assertThat(problem.getString("detail")).isNotBlank().doesNotContain("Exception");
      assertThat(headers).containsEntry("x-request-id", problem.getString("requestId"));
      String type = problem.getString("type");
      assertThat(type).startsWith(PROBLEMS);
      return type.substring(PROBLEMS.length());
    }

    public void expectProblem(int expected, String slug) {
      assertThat(status).as(body).isEqualTo(expected);
      assertThat(slug()).isEqualTo(slug);
    }
  }

  /**
   * One request on a connection of its own.
   *
   * @param key the header {@code Authorization}; empty: none
   */
  public static Got exchange(
      String server, String firstLine, String key, byte[] body, Map<String, String> headers)
      throws IOException {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("Host", "localhost");
    all.put("Connection", "close");
    if (!key.isEmpty()) {
      all.put("Authorization", key);
    }
    if (body.length > 0) {
      all.put("Content-Type", "application/json; charset=UTF-8");
    }
    all.put("Content-Length", String.valueOf(body.length));
    all.putAll(headers);
    StringBuilder head = new StringBuilder(firstLine).append(" HTTP/1.1\r\n");
    all.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    try (RawHttp connection = to(server)) {
      // The body byte by byte as it is.
      return connection.send(head.append("\r\n") + new String(body, ISO_8859_1)).read();
    }
  }

  public static RawHttp to(String url) throws IOException {
    return to(url, "127.0.0.1");
  }

  /** From another address of the loopback interface. */
  public static RawHttp to(String url, String from) throws IOException {
    Socket socket = new Socket();
    socket.bind(new InetSocketAddress(InetAddress.getAllByName(from)[0], 0));
    socket.connect(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), URI.create(url).getPort()));
    // Longer than any step here takes; a test that waits for it has failed.
    socket.setSoTimeout(60_000);
    socket.setTcpNoDelay(true);
    return new RawHttp(socket);
  }

  public RawHttp send(String bytes) throws IOException {
    socket.getOutputStream().write(bytes.getBytes(ISO_8859_1));
    socket.getOutputStream().flush();
    return this;
  }

  /** False once the other end is gone. */
  boolean trySend(String bytes) {
    try {
      send(bytes);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** A well-formed request without a body. */
  public RawHttp get(String path) throws IOException {
    return send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }

  public Got read() throws IOException {
    Got answer = readUnlessClosed();
    assertThat(answer).as("an answer before the end").isNotNull();
    return answer;
  }

  /** The next answer; null when the connection ended instead. */
  @Nullable Got readUnlessClosed() throws IOException {
    String first = line();
    if (first.isEmpty()) {
      return null;
    }
    Map<String, String> headers = new TreeMap<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      headers.merge(
          line.substring(0, colon).toLowerCase(Locale.ROOT),
          line.substring(colon + 1).strip(),
          (one, other) -> one + ", " + other);
    }
    int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
    String body = new String(in.readNBytes(length), UTF_8);
    return new Got(Integer.parseInt(first.split(" ", 3)[1]), headers, body);
  }

  /** Nothing more comes, and the connection ends. */
  void expectEnd() throws IOException {
    assertThat(line()).isEmpty();
  }

  /** Until a line that begins so. */
  String readUntil(String beginning) throws IOException {
    while (true) {
      String line = lineOrEnd();
      assertThat(line).as("a line that begins with '%s'", beginning).isNotNull();
      if (line.startsWith(beginning)) {
        return line;
      }
    }
  }

  /** Goes away without a word, as a crash does. */
  public void abort() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  private String line() throws IOException {
    String line = lineOrEnd();
    return line == null ? "" : line;
  }

  private @Nullable String lineOrEnd() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    try {
      for (int next = in.read(); next != '\n'; next = in.read()) {
        if (next < 0) {
          return line.size() == 0 ? null : line.toString(ISO_8859_1);
        }
        line.write(next);
      }
    } catch (SocketException e) {
      return null; // Reset: an end, too.
    }
    return line.toString(ISO_8859_1).stripTrailing();
  }
}
