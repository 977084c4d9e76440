package dev.lockstep.bench;

import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** The server as users run it, in its own process, on the database of the run. */
final class BenchedServer implements AutoCloseable {
  private static final String READY = "Lockstep is ready on ";
  private static final String OPERATOR_KEY = "operator-key-of-a-benchmark-on-loopback-only";
  private static final int LAST_LINES = 20;

  private final Process process;
  private final URI address;
  private final HttpClient client = HttpClient.newHttpClient();

  private BenchedServer(Process process, URI address) {
    this.process = process;
    this.address = address;
  }

  /**
   * Starts it and waits until it is ready.
   *
   * @param environment overrides of the defaults
   */
  static BenchedServer start(BenchDatabase database, Map<String, String> environment)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // As `./lockstep up` starts it.
    command.addAll(List.of("-Xmx1g", "-XX:+UseParallelGC", "-Dfile.encoding=UTF-8"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of("dev.lockstep.cli.Main", "up", "--port", "0"));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().keySet().removeIf(name -> name.startsWith("LOCKSTEP_"));
    builder.environment().put("LOCKSTEP_DATABASE_URL", database.url());
    builder.environment().put("LOCKSTEP_OPERATOR_KEY", OPERATOR_KEY);
    builder.environment().put("LOCKSTEP_SAMPLES", "false");
    builder.environment().putAll(environment);
    Process process = builder.start();
    List<String> lines = new ArrayList<>();
    BufferedReader out = process.inputReader();
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      if (line.startsWith(READY)) {
        drain(out);
        return new BenchedServer(process, URI.create(line.substring(READY.length())));
      }
      lines.add(line);
    }
    throw new IOException(
        "The server ended before it was ready:\n"
            + String.join(
                "\n", lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size())));
  }

  /** A full pipe would stop the server. */
  private static void drain(BufferedReader out) {
    Thread reader =
        new Thread(
            () -> {
              try {
                while (out.readLine() != null) {
                  // Read and forgotten.
                }
              } catch (IOException e) {
                // The process has ended.
              }
            },
            "server-output");
    reader.setDaemon(true);
    reader.start();
  }

  URI address() {
    return address;
  }

  /** A key that may buy for anybody. */
  String serviceKey() throws IOException, InterruptedException {
    return post("/v1/keys", new JsonObject().put("role", "service").put("name", "bench"))
        .getString("key");
  }

  /** Posts as operator; the answer must be a success. */
  JsonObject post(String path, JsonObject body) throws IOException, InterruptedException {
    return send(
        HttpRequest.newBuilder(address.resolve(path))
            .header("Content-Type", "application/json")
            // Of its own: another server of the same database must not get the first one's answer.
            .header("Idempotency-Key", UUID.randomUUID().toString())
            .POST(HttpRequest.BodyPublishers.ofString(body.encode())));
  }

  JsonObject get(String path) throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(address.resolve(path)));
  }

  private JsonObject send(HttpRequest.Builder request) throws IOException, InterruptedException {
    HttpResponse<String> response =
        client.send(
            request.header("Authorization", "Bearer " + OPERATOR_KEY).build(),
            HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() / 100 != 2) {
      throw new IOException(
          "%s answered %d: %s"
              .formatted(response.request().uri(), response.statusCode(), response.body()));
    }
    return new JsonObject(response.body());
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(30, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
