package dev.lockstep.server;

import io.vertx.core.json.JsonObject;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A real Prometheus on loopback, with what it writes in a folder of the test's. The programs are
 * those in the folder that {@code LOCKSTEP_PROMETHEUS} names, else those on the path.
 */
final class Prometheus implements AutoCloseable {
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final long END_SECONDS = 10;
  private static final long TOOL_SECONDS = 120;

  private final Process process;
  private final Path log;
  private final String url;

  private Prometheus(Process process, Path log, String url) {
    this.process = process;
    this.log = log;
    this.url = url;
  }

  /** Starts one with this configuration and waits until it is ready. */
  static Prometheus start(Path folder, String configuration) throws Exception {
    Path file = Files.writeString(folder.resolve("prometheus.yaml"), configuration);
    Path log = folder.resolve("log");
    int port = freePort();
    Process process =
        new ProcessBuilder(
                program("prometheus").toString(),
                "--config.file=" + file,
                "--storage.tsdb.path=" + folder.resolve("data"),
                "--web.listen-address=127.0.0.1:" + port)
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    Prometheus started = new Prometheus(process, log, "http://127.0.0.1:" + port);
    try {
      Await.until("Prometheus is ready", started::isReady);
      return started;
    } catch (Exception | Error e) {
      started.close();
      throw e;
    }
  }

  private boolean isReady() throws Exception {
    if (!process.isAlive()) {
      throw new IllegalStateException("Prometheus has ended:\n" + Files.readString(log));
    }
    try {
      return get("/-/ready").statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  /** What an address of its API answers. */
  JsonObject api(String path) throws Exception {
    return new JsonObject(get("/api/v1/" + path).body());
  }

  /** What an expression is at this moment, or what is wrong with it. */
  JsonObject query(String expression) throws Exception {
    return api("query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8));
  }

  private HttpResponse<String> get(String path) throws Exception {
    return HTTP.send(
        HttpRequest.newBuilder(URI.create(url + path)).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  /** What {@code promtool} said, and how it ended. */
  record Checked(int status, String said) {}

  static Checked promtool(Path folder, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(program("promtool").toString()));
    command.addAll(List.of(arguments));
    Path said = Files.createTempFile(folder, "promtool", ".txt");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start();
    if (!process.waitFor(TOOL_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new IllegalStateException("promtool has not ended: " + Files.readString(said));
    }
    return new Checked(process.exitValue(), Files.readString(said));
  }

  private static Path program(String name) {
    String folders =
        System.getenv().getOrDefault("LOCKSTEP_PROMETHEUS", "")
            + File.pathSeparator
            + System.getenv().getOrDefault("PATH", "");
    for (String folder : folders.split(File.pathSeparator, -1)) {
      Path program = Path.of(folder, name);
      if (!folder.isEmpty() && Files.isExecutable(program)) {
        return program;
      }
    }
    throw new IllegalStateException(
        name
            + " was not found; install Prometheus (Debian, Ubuntu: apt-get install prometheus), or"
            + " name its folder in LOCKSTEP_PROMETHEUS");
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
