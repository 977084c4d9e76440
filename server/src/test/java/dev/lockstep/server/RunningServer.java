package dev.lockstep.server;

import dev.lockstep.server.key.Secret;
import dev.lockstep.testkit.TestDatabase;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A real server in this process, on a database of the test class's own, reached over real HTTP. Its
 * clock for rate limits stands still until a test moves it.
 */
final class RunningServer implements BeforeAllCallback, AfterAllCallback {
  static final String OPERATOR_KEY = "operator-key-for-tests";

  private final TestDatabase database = TestDatabase.migrated();
  private final AtomicLong nanoTime = new AtomicLong();
  private @Nullable Server server;

  @Override
  public void beforeAll(ExtensionContext context) {
    database.beforeAll(context);
    server = start(false);
  }

  @Override
  public void afterAll(ExtensionContext context) {
    server().close();
    database.afterAll(context);
  }

  /** Another node on the same database. */
  Server start(boolean samples) {
    DatabaseAddress address =
        new DatabaseAddress(
            database.url(), database.user(), database.password(), "the test database", false);
    return Server.start(
        new ServerConfig(
            ServerConfig.DEFAULT_HOST,
            0,
            Path.of("unused"),
            Optional.of(address),
            Optional.of(Secret.of(OPERATOR_KEY)),
            samples),
        nanoTime::get);
  }

  TestDatabase database() {
    return database;
  }

  String url() {
    return server().url();
  }

  /** Moves the clock of rate limits. */
  void passSeconds(int seconds) {
    nanoTime.addAndGet(seconds * 1_000_000_000L);
  }

  Client anyone() {
    return new Client(url(), Optional.empty());
  }

  Client operator() {
    return new Client(url(), Optional.of(OPERATOR_KEY));
  }

  Client service() throws Exception {
    return withNewKey(new JsonObject().put("role", "service").put("name", "a shop"));
  }

  Client buyer(String name) throws Exception {
    return withNewKey(
        new JsonObject().put("role", "buyer").put("name", "a buyer").put("buyer", name));
  }

  private Client withNewKey(JsonObject key) throws Exception {
    Client.Reply reply = operator().post("/v1/keys", key);
    return new Client(url(), Optional.of(reply.expect(201).getString("key")));
  }

  /** A published triangle; its id. */
  String triangle(int baseLength, @Nullable Integer limit) throws Exception {
    return published(
        new JsonObject()
            .put("kind", "triangle")
            .put("name", "A triangle")
            .put("currency", "JPY")
            .put("baseLength", baseLength)
            .put("price", 500)
            .put("purchaseLimit", limit));
  }

  /** A published drop of one product, sku A; its id. */
  String drop(int stock, @Nullable Integer limit) throws Exception {
    return published(dropOf(stock).put("purchaseLimit", limit));
  }

  static JsonObject dropOf(int stock) {
    return new JsonObject()
        .put("kind", "drop")
        .put("name", "A drop")
        .put("currency", "USD")
        .put(
            "products",
            new JsonArray()
                .add(
                    new JsonObject()
                        .put("sku", "A")
                        .put("name", "Thing")
                        .put("price", 250)
                        .put("stock", stock)));
  }

  String published(JsonObject campaign) throws Exception {
    String id = operator().post("/v1/campaigns", campaign).expect(201).getString("id");
    operator().post("/v1/campaigns/" + id + "/publish", null).expect(200);
    return id;
  }

  private Server server() {
    Server running = server;
    if (running == null) {
      throw new IllegalStateException("the server runs from beforeAll to afterAll");
    }
    return running;
  }
}
