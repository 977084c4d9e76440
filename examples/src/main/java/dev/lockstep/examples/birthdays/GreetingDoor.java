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
 * Receives deliveries on this machine: turns away those that are not genuine, and greets once
 * however often a delivery comes. Thread-safe.
 */
public final class GreetingDoor implements AutoCloseable {
  private static final int MAX_BYTES = 64 * 1024;

  private final HttpServer server;
  private final ExecutorService threads = Executors.newFixedThreadPool(4);
  private final Consumer<Greeting> greet;
  // A real one keeps these in its database, with what it does about them.
  private final Set<String> seen = ConcurrentHashMap.newKeySet();
  private volatile @Nullable String secret;

  /** A greeting to be handed on. */
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

  /** What the server signs with; until it is told, nothing is believed. */
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
    if (seen.add(delivery)) {
      JsonObject person = new JsonObject(new String(body, StandardCharsets.UTF_8));
      // Not signed, and good enough to be printed: what matters is in the body.
      Instant dueAt = Instant.parse(headers.getFirst("Lockstep-Due"));
      greet.accept(
          new Greeting(person.getString("name"), person.getString("zone"), dueAt, delivery));
    }
    // Also for a repetition: it has been taken.
    return 204;
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
