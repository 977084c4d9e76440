package dev.lockstep.server;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/** Receives deliveries on this machine, and answers as a test wants. */
final class WebhookReceiver implements AutoCloseable {
  private final List<Received> received = new CopyOnWriteArrayList<>();
  // As many as come at a time, since a test may keep all of them waiting.
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicInteger underWay = new AtomicInteger();
  private final HttpServer server;
  private volatile Function<Received, Answer> answering = one -> Answer.of(200);

  /** One request, as it arrived. */
  record Received(Map<String, List<String>> headers, String path, String body) {
    String header(String name) {
      return headers.entrySet().stream()
          .filter(header -> header.getKey().equalsIgnoreCase(name))
          .map(header -> header.getValue().get(0))
          .findFirst()
          .orElseThrow(() -> new AssertionError("No header " + name + " in " + headers));
    }

    String id() {
      return header("webhook-id");
    }

    /** Of a stream's event, in whichever format it came. */
    String key() {
      return isCloudEvent() ? event().getString("subject") : header("lockstep-key");
    }

    String type() {
      return isCloudEvent() ? event().getString("type") : header("lockstep-type");
    }

    long seq() {
      return Long.parseLong(
          isCloudEvent() ? event().getString("sequence") : header("lockstep-seq"));
    }

    JsonObject event() {
      return new JsonObject(body);
    }

    private boolean isCloudEvent() {
      return header("content-type").equals("application/cloudevents+json");
    }
  }

  /** What to answer. */
  record Answer(int status, Map<String, String> headers, String body) {
    static Answer of(int status) {
      return new Answer(status, Map.of(), "");
    }

    Answer with(String header, String value) {
      return new Answer(status, Map.of(header, value), body);
    }

    Answer saying(String text) {
      return new Answer(status, headers, text);
    }
  }

  WebhookReceiver() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::receive);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  WebhookReceiver answering(Function<Received, Answer> how) {
    answering = how;
    return this;
  }

  List<Received> received() {
    return List.copyOf(received);
  }

  List<Received> received(String path) {
    return received.stream().filter(one -> one.path().equals(path)).toList();
  }

  /** Requests that are here and not answered yet. */
  int underWay() {
    return underWay.get();
  }

  private void receive(HttpExchange exchange) throws IOException {
    try (exchange) {
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      Received one =
          new Received(
              Map.copyOf(exchange.getRequestHeaders()), exchange.getRequestURI().getPath(), body);
      underWay.incrementAndGet();
      Answer answer = answering.apply(one);
      underWay.decrementAndGet();
      received.add(one);
      answer.headers().forEach((name, value) -> exchange.getResponseHeaders().set(name, value));
      byte[] said = answer.body().getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(answer.status(), said.length == 0 ? -1 : said.length);
      exchange.getResponseBody().write(said);
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
