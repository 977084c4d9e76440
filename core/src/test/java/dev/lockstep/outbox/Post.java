package dev.lockstep.outbox;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** An outbox with a stream of its own for each test, and the relays of the test. */
final class Post implements AfterEachCallback {
  static final int PARTITIONS = 4;

  /** Leases that never pass during a test; where one has to, {@link #age} makes it. */
  static final Duration LONG = Duration.ofMinutes(10);

  private static final AtomicInteger streams = new AtomicInteger();

  private final TestDatabase database;
  private final List<Relay> relays = new ArrayList<>();
  final String stream = "stream-" + streams.incrementAndGet();
  final MemorySink sink = new MemorySink();

  Post(TestDatabase database) {
    this.database = database;
  }

  @Override
  public void afterEach(ExtensionContext context) {
    relays.forEach(Relay::close);
    // Or the relays of the next test would serve them.
    outbox().streams().forEach(view -> outbox().define(view.name(), List.of(), "test"));
  }

  Transactor transactor() {
    return new Transactor(database.dataSource());
  }

  static OutboxConfig config() {
    return OutboxConfig.DEFAULT.withPartitions(PARTITIONS).withRetention(Duration.ZERO);
  }

  Outbox outbox() {
    return new Outbox(transactor(), config());
  }

  /** Defines the stream with a memory sink of each name. */
  Outbox define(String... sinks) {
    Outbox outbox = outbox();
    List<SinkSpec> specs = new ArrayList<>();
    for (String name : sinks) {
      specs.add(SinkSpec.of(name, MemorySink.TYPE, ""));
    }
    outbox.define(stream, specs, "test");
    return outbox;
  }

  static RelayConfig relayConfig() {
    return RelayConfig.named("test")
        .withLease(LONG, Duration.ofMillis(20))
        .withPollInterval(Duration.ofMillis(20))
        .withPauses(Duration.ofMillis(1), Duration.ofMillis(10));
  }

  SinkTypes types() {
    return SinkTypes.standard().with(MemorySink.TYPE, (stream, spec) -> sink);
  }

  Relay start() {
    return start(relayConfig(), types());
  }

  Relay start(RelayConfig config, SinkTypes types) {
    return start(config, types, new SnapshotSource(transactor()));
  }

  Relay start(RelayConfig config, SinkTypes types, EventSource source) {
    Relay relay = outbox().relay(config, types, source);
    relays.add(relay);
    return relay;
  }

  Relay start(RelayConfig config, CursorLife.Observer observer, SinkTypes types) {
    Relay relay = outbox().relay(config, types, new SnapshotSource(transactor()), observer);
    relays.add(relay);
    return relay;
  }

  void stop(Relay relay) {
    relay.close();
    relays.remove(relay);
  }

  NewEvent event(String key) {
    return NewEvent.of(stream, key, "noted", Content.json("{}"));
  }

  /** Appends events of keys, in one transaction. */
  List<AppendedEvent> append(String... keys) {
    Outbox outbox = outbox();
    List<NewEvent> events = new ArrayList<>();
    for (String key : keys) {
      events.add(event(key));
    }
    return transactor().call(connection -> outbox.appendAll(connection, events));
  }

  void awaitDelivered(int count) {
    Await.until(count + " delivered", () -> sink.delivered.size() >= count);
  }

  /** Lets the leases of all nodes of this name pass. */
  void age(String node) {
    database.execute(
        "UPDATE lockstep.shard_member SET expires_at = now() WHERE node = '" + node + "'");
  }
}
