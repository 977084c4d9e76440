package dev.lockstep.examples.birthdays;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Receives deliveries on this machine: refuses forged ones, and greets once however often a
 * delivery is repeated. Thread-safe.
 */
public final class GreetingDoor implements AutoCloseable {
  private static final int MAX_BYTES = 64 * 1024;

  private final HttpServer server;
  private final ExecutorService threads = Executors.newFixedThreadPool(4);
  private final Consumer<Greeting> greet;
  // A real receiver writes these to its database, in the transaction that does the work.
  private final Set<String> seen = ConcurrentHashMap.newKeySet();
  private volatile @Nullable String secret;

  /** One greeting. */
  public record Greeting(String name, String zone, Instant dueAt, String delivery) {}

  public GreetingDoor(Consumer<Greeting> greet) throws IOException {
    this.greet = greet;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/greet", this::receive);
    server.start();
  }

  public URI url() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/greet");
  }

  /** Sets the server's secret; until then every delivery is refused. */
  public void trust(String sharedSecret) {
    secret = sharedSecret;
  }

  private void receive(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = exchange.getRequestBody().readNBytes(MAX_BYTES);
      exchange.sendResponseHeaders(answer(exchange, body), -1);
    }
  }

  private int answer(HttpExchange exchange, byte[] body) {
    Headers headers = exchange.getRequestHeaders();
    String delivery = headers.getFirst("webhook-id");
    String timestamp = headers.getFirst("webhook-timestamp");
    String signatures = headers.getFirst("webhook-signature");
    String known = secret;
    if (known == null
        || delivery == null
        || timestamp == null
        || signatures == null
        || !SignedDelivery.isGenuine(known, delivery, timestamp, signatures, body, Instant.now())) {
      return 401;
    }
    JsonObject person = new JsonObject(new String(body, StandardCharsets.UTF_8));
    // Not signed, but good enough to print; what matters is in the signed body.
    Instant dueAt = Instant.parse(headers.getFirst("Lockstep-Due"));
    // Noted only once it can be read: what failed before is delivered again.
    if (seen.add(delivery)) {
      greet.accept(
          new Greeting(person.getString("name"), person.getString("zone"), dueAt, delivery));
    }
    // A repetition too: it was taken already.
    return 204;
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
