package dev.lockstep.kafka;

import dev.lockstep.broker.KafkaBroker;
import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.OutboxConfig;
import dev.lockstep.outbox.Relay;
import dev.lockstep.outbox.RelayConfig;
import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.outbox.SinkTypes;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.Producer;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A stream and a topic of its own for each test, on a broker that all tests of the JVM share. */
final class Stage implements AfterEachCallback {
  static final int PARTITIONS = 4;
  static final String SINK = "topic";
  static final String NODE = "test";

  /** Leases that never pass during a test; where one has to, {@link #ageAllBut} makes it. */
  static final Duration LONG = Duration.ofMinutes(10);

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final AtomicInteger numbers = new AtomicInteger();

  /** Started by the first test that needs it. */
  private static final class Shared {
    static final KafkaBroker BROKER = start();

    private static KafkaBroker start() {
      KafkaBroker broker = KafkaBroker.start();
      Runtime.getRuntime().addShutdownHook(new Thread(broker::close, "stop-broker"));
      return broker;
    }
  }

  private final TestDatabase database;
  private final List<Relay> relays = new ArrayList<>();
  final String stream = "stream-" + numbers.incrementAndGet();
  final String topic = stream;

  Stage(TestDatabase database) {
    this.database = database;
  }

  static KafkaBroker broker() {
    return Shared.BROKER;
  }

  @Override
  public void afterEach(ExtensionContext context) {
    relays.forEach(Relay::close);
    // Of processes that were killed.
    ageAllBut("");
    // Or the relays of the next test would serve them.
    outbox().streams().forEach(view -> outbox().define(view.name(), List.of(), "test"));
  }

  static KafkaConfig kafka() {
    return KafkaConfig.of(broker().bootstrapServers(), "test");
  }

  Transactor transactor() {
    return new Transactor(database.dataSource());
  }

  static Outbox outbox(Transactor transactor) {
    return new Outbox(
        transactor,
        OutboxConfig.DEFAULT.withPartitions(PARTITIONS).withRetention(Duration.ofDays(1)));
  }

  Outbox outbox() {
    return outbox(transactor());
  }

  /** Makes the topic, with two partitions, and the stream with a sink to it. */
  void define(Map<String, String> topicSettings) {
    define(KafkaTarget.Format.PLAIN, topicSettings);
  }

  void define(KafkaTarget.Format format, Map<String, String> topicSettings) {
    broker().createTopic(topic, 2, topicSettings);
    String settings = new KafkaTarget(topic, format).settings();
    outbox().define(stream, List.of(SinkSpec.of(SINK, KafkaSink.TYPE, settings)), "test");
  }

  static RelayConfig relayConfig(String node) {
    return RelayConfig.named(node)
        .withLease(LONG, Duration.ofMillis(20))
        .withPollInterval(Duration.ofMillis(20))
        .withPauses(Duration.ofMillis(5), Duration.ofMillis(50));
  }

  /** Sinks to Kafka whose producers are made by the test. */
  static SinkTypes types(
      KafkaConfig config, Function<Map<String, Object>, Producer<byte[], byte[]>> producers) {
    return SinkTypes.standard()
        .with(
            KafkaSink.TYPE,
            (stream, spec) -> new KafkaSink(config, KafkaTarget.parse(spec.settings()), producers));
  }

  Relay start(KafkaConfig config) {
    return start(SinkTypes.standard().with(KafkaSink.TYPE, KafkaSink.on(config)));
  }

  Relay start(SinkTypes types) {
    Relay relay = outbox().relay(relayConfig(NODE), types);
    relays.add(relay);
    return relay;
  }

  /** Appends an event for each text, to one key, in one transaction. */
  void append(String key, String... texts) {
    Outbox outbox = outbox();
    List<NewEvent> events =
        Stream.of(texts)
            .map(
                text ->
                    NewEvent.of(
                        stream,
                        key,
                        "noted",
                        Content.of("text/plain", text.getBytes(StandardCharsets.UTF_8))))
            .toList();
    transactor().run(connection -> outbox.appendAll(connection, events));
  }

  List<Published> published() {
    return Published.in(broker().bootstrapServers(), topic);
  }

  List<Published> awaitPublished(int count) {
    until(count + " published", () -> published().size() >= count);
    return published();
  }

  List<Long> seqs(String key) {
    return published().stream().filter(one -> one.key().equals(key)).map(Published::seq).toList();
  }

  /** Lets the leases of all nodes pass but those of this one. */
  void ageAllBut(String node) {
    database.execute(
        "UPDATE lockstep.shard_member SET expires_at = now() WHERE node <> '" + node + "'");
  }

  /** Returns when the condition holds, which some other thread or process makes true. */
  static void until(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("Never came true: " + what);
      }
      // Between two questions; no test relies on its length.
      LockSupport.parkNanos(5_000_000);
    }
  }
}
