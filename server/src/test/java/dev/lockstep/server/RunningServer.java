package dev.lockstep.server;

import dev.lockstep.gateway.Gateway;
import dev.lockstep.once.Once;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.config.DeliverySettings;
import dev.lockstep.server.config.PaymentSettings;
import dev.lockstep.server.config.ServerConfig;
import dev.lockstep.server.database.DatabaseAddress;
import dev.lockstep.server.delivery.DeliveryConfig;
import dev.lockstep.server.edge.EdgeConfig;
import dev.lockstep.server.key.Keys;
import dev.lockstep.server.key.Secret;
import dev.lockstep.server.outgoing.OutgoingConfig;
import dev.lockstep.server.purchase.Timings;
import dev.lockstep.server.rate.Rate;
import dev.lockstep.server.rate.RateLimits;
import dev.lockstep.server.setting.Sources;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A real server in this process, on a database of the test class's own, reached over real HTTP. Its
 * clock for rate limits stands still until a test moves it.
 */
public final class RunningServer implements BeforeAllCallback, AfterAllCallback {
  public static final String OPERATOR_KEY = "operator-key-for-tests";

  static final String WEBHOOK_SECRET = "whsec_for_tests";

  /** Impatient, so that tests of what timers do need not wait long. */
  static final Timings TIMINGS =
      Timings.DEFAULT
          .withLookAfter(Duration.ofMillis(500))
          .withPollInterval(Duration.ofMillis(50))
          .withActionWindow(Duration.ofSeconds(1));

  static final PaymentSettings PAYMENTS =
      PaymentSettings.BUILT_IN
          .withWebhookSecret(Secret.of(WEBHOOK_SECRET))
          .withAnswerTimeout(Duration.ofSeconds(2))
          .withTimings(TIMINGS);

  /** Impatient, and to receivers on this machine: there are no others in a test. */
  static final DeliverySettings DELIVERIES =
      DeliverySettings.DEFAULT
          .withOutgoing(
              OutgoingConfig.DEFAULT
                  .withPrivateTargets(true)
                  .withTimeouts(Duration.ofSeconds(5), Duration.ofSeconds(20)))
          .withConfig(DeliveryConfig.DEFAULT.withFirstBackoff(Duration.ofMillis(20)));

  /** Limits by address that tests, which all have the same one, do not meet by accident. */
  static final EdgeConfig EDGE =
      EdgeConfig.DEFAULT.withRates(
          RateLimits.DEFAULT
              .withAnonymous(new Rate(1_000_000, 1_000_000))
              .withUnknownKeys(new Rate(1_000_000, 1_000_000))
              .withLab(new Rate(1_000_000, 1_000_000)));

  private final TestDatabase database = TestDatabase.migrated();
  private final PaymentSettings payments;
  private DeliverySettings deliveries = DELIVERIES;
  private final Map<String, String> settings = new HashMap<>();
  private EdgeConfig edge = EDGE;
  private final AtomicLong nanoTime = new AtomicLong();
  private final LongSupplier clock;
  private @Nullable Server server;

  /** With the timings that users have. */
  public RunningServer() {
    this(PaymentSettings.BUILT_IN.withWebhookSecret(Secret.of(WEBHOOK_SECRET)));
  }

  public RunningServer(PaymentSettings payments) {
    this.payments = payments;
    this.clock = nanoTime::get;
  }

  private RunningServer(PaymentSettings payments, LongSupplier clock) {
    this.payments = payments;
    this.clock = clock;
  }

  /** With a clock that goes: a browser asks as often as its pages want to. */
  static RunningServer forBrowsers() {
    return new RunningServer(PaymentSettings.BUILT_IN, System::nanoTime);
  }

  /** Before it is started: with these brokers. */
  RunningServer publishingTo(String brokers) {
    return with("LOCKSTEP_KAFKA_BOOTSTRAP", brokers);
  }

  /** Before it is started: any setting, by its variable. */
  public RunningServer with(String variable, String value) {
    settings.put(variable, value);
    return this;
  }

  /** Before it is started: other rules for deliveries. */
  RunningServer delivering(DeliverySettings settings) {
    deliveries = settings;
    return this;
  }

  /** Before it is started: with another edge. */
  public RunningServer behind(EdgeConfig config) {
    edge = config;
    return this;
  }

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
  public Server start(boolean samples) {
    return start(samples, true);
  }

  /** Another node, with another edge. */
  public Server start(EdgeConfig other) {
    EdgeConfig before = edge;
    edge = other;
    try {
      return start(false);
    } finally {
      edge = before;
    }
  }

  /** A node that knows no visitors. */
  Server startWithoutVisitors() {
    return start(false, false);
  }

  /** A node whose provider charges real cards, if it ever were asked. */
  Server startWithLiveKey() {
    return start(
        false,
        true,
        ServerConfig.of(
                Sources.of(
                    Map.of(),
                    Map.of(
                        "LOCKSTEP_STRIPE_KEY",
                        "sk_live_of_a_test",
                        "LOCKSTEP_STRIPE_API_BASE",
                        "http://localhost:1")))
            .payments());
  }

  /** A node on which nothing is played. */
  Server startWithoutLab() {
    return start(false, true, payments, false);
  }

  private Server start(boolean samples, boolean visitors) {
    return start(samples, visitors, payments);
  }

  private Server start(boolean samples, boolean visitors, PaymentSettings payments) {
    return start(samples, visitors, payments, true);
  }

  private Server start(boolean samples, boolean visitors, PaymentSettings payments, boolean lab) {
    DatabaseAddress address =
        new DatabaseAddress(
            database.url(), database.user(), database.password(), "the test database", false);
    Map<String, String> environment = new HashMap<>(settings);
    environment.put("LOCKSTEP_PORT", "0");
    environment.put("LOCKSTEP_DATA", "unused");
    environment.put("LOCKSTEP_OPERATOR_KEY", OPERATOR_KEY);
    environment.put("LOCKSTEP_SAMPLES", String.valueOf(samples));
    environment.put("LOCKSTEP_VISITORS", String.valueOf(visitors));
    environment.put("LOCKSTEP_LAB", String.valueOf(lab));
    return Server.start(
        ServerConfig.of(Sources.of(Map.of(), environment))
            .withExternalDatabase(address)
            .withPayments(payments)
            .withDeliveries(deliveries)
            .withEdge(edge),
        clock);
  }

  public TestDatabase database() {
    return database;
  }

  public String url() {
    return server().url();
  }

  public Gateway gateway() {
    return server().gateway().orElseThrow();
  }

  /** What housekeeping does once a minute. */
  public int removeOldVisitors() {
    Vertx vertx = Vertx.vertx();
    try (Workers workers = new Workers(vertx)) {
      Transactor transactor = new Transactor(database.dataSource());
      return new Keys(
              transactor,
              new Once(transactor),
              workers,
              Optional.empty(),
              RateLimits.DEFAULT,
              clock)
          .removeOldVisitors();
    } finally {
      vertx.close().await();
    }
  }

  /** Moves the clock of rate limits. */
  void passSeconds(int seconds) {
    nanoTime.addAndGet(seconds * 1_000_000_000L);
  }

  public Client anyone() {
    return new Client(url(), Optional.empty());
  }

  public Client operator() {
    return new Client(url(), Optional.of(OPERATOR_KEY));
  }

  public Client service() throws Exception {
    return withNewKey(new JsonObject().put("role", "service").put("name", "a shop"));
  }

  public Client buyer(String name) throws Exception {
    return withNewKey(
        new JsonObject().put("role", "buyer").put("name", "a buyer").put("buyer", name));
  }

  /** A browser that the shop has let in. */
  public Client visitor() throws Exception {
    Client.Reply reply = anyone().post("/v1/visitor", null);
    reply.expect(201);
    String cookie = reply.header("Set-Cookie").orElseThrow();
    return new Client(
        url(), Optional.empty(), Optional.of(cookie.substring(0, cookie.indexOf(';'))));
  }

  private Client withNewKey(JsonObject key) throws Exception {
    Client.Reply reply = operator().post("/v1/keys", key);
    return new Client(url(), Optional.of(reply.expect(201).getString("key")));
  }

  /** A published triangle; its id. */
  public String triangle(int baseLength, @Nullable Integer limit) throws Exception {
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
  public String drop(int stock, @Nullable Integer limit) throws Exception {
    return published(dropOf(stock).put("purchaseLimit", limit));
  }

  public static JsonObject dropOf(int stock) {
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

  public String published(JsonObject campaign) throws Exception {
    return operator().publish(campaign);
  }

  /** As if no server had run for a day: the hold expires although it is being paid for. */
  void endHoldOf(JsonObject purchase) throws Exception {
    String hold = purchase.getString("hold");
    database()
        .execute(
            "UPDATE lockstep.hold SET expires_at = now() - interval '1 second' WHERE hold = '%s'"
                .formatted(hold.substring(hold.indexOf('.') + 1)));
    Await.until(
        "the hold has expired",
        () -> operator().get("/v1/holds/" + hold).expect(200).getString("state").equals("expired"));
  }

  private Server server() {
    Server running = server;
    if (running == null) {
      throw new IllegalStateException("the server runs from beforeAll to afterAll");
    }
    return running;
  }
}
