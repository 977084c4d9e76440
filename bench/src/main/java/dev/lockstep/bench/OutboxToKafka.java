package dev.lockstep.bench;

import dev.lockstep.broker.KafkaBroker;
import dev.lockstep.kafka.KafkaConfig;
import dev.lockstep.kafka.KafkaSink;
import dev.lockstep.outbox.Sink;
import dev.lockstep.outbox.SinkSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/** The outbox to a real broker, and Kafka's own producer on the same records. */
final class OutboxToKafka {
  static final String RELAY = "Lockstep relay to Kafka";
  static final String HOT = "Lockstep relay to Kafka, one hot key";
  static final String LATENCY = "Lockstep commit to publish, Kafka";
  static final String PRODUCER = "ceiling: Kafka's own producer";

  private static final int TOPIC_PARTITIONS = 8;
  // A new broker is slow at small transactions until its code is compiled, after about thirty
  // thousand.
  private static final int MAX_WARM_UP_SECONDS = 75;

  private final Relaying relaying;
  private final Report report;
  private final KafkaConfig config;
  private final String servers;

  private OutboxToKafka(Relaying relaying, Report report, String servers) {
    this.relaying = relaying;
    this.report = report;
    this.servers = servers;
    this.config = KafkaConfig.of(servers, "bench");
  }

  /**
   * @param backlog a stream with {@code count} events
   */
  static void run(BenchRun run, Relaying relaying, String backlog, int count) throws Exception {
    Progress.say("Starting Kafka");
    try (KafkaBroker broker = KafkaBroker.start()) {
      for (String topic : List.of("producer", "relay", "hot", "latency")) {
        broker.createTopic(topic, TOPIC_PARTITIONS, Map.of());
      }
      OutboxToKafka bench = new OutboxToKafka(relaying, run.report(), broker.bootstrapServers());
      // First, since its warm-up serves the others too.
      Measured latency =
          relaying.latency(LATENCY, MAX_WARM_UP_SECONDS, run.seconds(), bench.sink("latency"));
      bench.warmUp(backlog, count);
      bench.throughput(backlog, count);
      bench.hotKey(count / 4);
      run.report().add(latency);
    }
  }

  /** Runs both in turns, since the speed of broker and disk varies. */
  private void throughput(String backlog, int count) throws Exception {
    List<Measured> produced = new ArrayList<>();
    List<Measured> relayed = new ArrayList<>();
    for (int round = 1; round <= Relaying.ROUNDS; round++) {
      Progress.say("%s, %d", PRODUCER, round);
      double perSecond = KafkaFlow.produce(PRODUCER, servers, "producer", count);
      produced.add(Measured.rate(PRODUCER, perSecond, count));
      relayed.add(relay(RELAY, backlog, "relay", count));
    }
    report.add(Measured.median(produced));
    report.add(Measured.median(relayed));
  }

  private void hotKey(int count) throws Exception {
    report.add(relay(HOT, relaying.backlog(HOT, count, 1), "hot", count));
  }

  private Measured relay(String name, String stream, String topic, int count) throws Exception {
    Map<TopicPartition, Long> end = KafkaFlow.end(servers, topic);
    double perSecond = relaying.deliverAll(name, stream, count, sink(topic));
    KafkaFlow.requireInOrder(name, servers, topic, end, count);
    return Measured.rate(name, perSecond, count);
  }

  private void warmUp(String backlog, int count) throws Exception {
    String name = "Kafka: warming up";
    relaying.warmUp(name, backlog, count, sink("relay"));
    WarmUp.run(Relaying.MAX_WARM_UPS, () -> KafkaFlow.produce(name, servers, "producer", count));
  }

  private Sink sink(String topic) {
    return KafkaSink.on(config).create(topic, SinkSpec.of("sink", KafkaSink.TYPE, topic));
  }
}
