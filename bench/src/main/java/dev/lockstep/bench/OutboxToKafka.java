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
  // A broker that runs has seen many small transactions; one that has just started is slow at them
  // until it is compiled, which takes about thirty thousand.
  private static final int MAX_WARM_UP_SECONDS = 75;
  private static final int MAX_ROUNDS = 8;
  private static final int ROUNDS = 3;

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
   * @param backlog a stream of so many events
   */
  static void run(Relaying relaying, int seconds, String backlog, int count, Report report)
      throws Exception {
    Progress.say("Starting Kafka");
    try (KafkaBroker broker = KafkaBroker.start()) {
      for (String topic : List.of("producer", "relay", "hot", "latency")) {
        broker.createTopic(topic, TOPIC_PARTITIONS, Map.of());
      }
      OutboxToKafka bench = new OutboxToKafka(relaying, report, broker.bootstrapServers());
      // First, since its warm-up is that of the others, too.
      Measured latency =
          relaying.latency(LATENCY, MAX_WARM_UP_SECONDS, seconds, bench.sink("latency"));
      bench.warmUp(backlog, count);
      bench.throughput(backlog, count);
      bench.hotKey(count / 4);
      report.add(latency);
    }
  }

  /** Both in turns, since the broker and the disk are not always in the same mood. */
  private void throughput(String backlog, int count) throws Exception {
    List<Double> produced = new ArrayList<>();
    List<Double> relayed = new ArrayList<>();
    for (int round = 1; round <= ROUNDS; round++) {
      Progress.say("%s, %d", PRODUCER, round);
      produced.add(KafkaFlow.produce(PRODUCER, servers, "producer", count));
      Map<TopicPartition, Long> end = KafkaFlow.end(servers, "relay");
      relayed.add(relaying.deliverAll(RELAY, backlog, count, sink("relay")));
      KafkaFlow.requireInOrder(RELAY, servers, "relay", end, count);
    }
    report.add(Measured.rate(PRODUCER, Measured.median(produced), count));
    report.add(Measured.rate(RELAY, Measured.median(relayed), count));
  }

  private void hotKey(int count) throws Exception {
    String stream = relaying.backlog(HOT, count, 1);
    Map<TopicPartition, Long> end = KafkaFlow.end(servers, "hot");
    double relayed = relaying.deliverAll(HOT, stream, count, sink("hot"));
    KafkaFlow.requireInOrder(HOT, servers, "hot", end, count);
    report.add(Measured.rate(HOT, relayed, count));
  }

  private void warmUp(String backlog, int count) throws Exception {
    String name = "Kafka: warming up";
    WarmUp relay = new WarmUp();
    for (int i = 0; i < MAX_ROUNDS && !relay.isOver(); i++) {
      relay.passed(relaying.deliverAll(name, backlog, count, sink("relay")));
    }
    WarmUp producer = new WarmUp();
    for (int i = 0; i < MAX_ROUNDS && !producer.isOver(); i++) {
      producer.passed(KafkaFlow.produce(name, servers, "producer", count));
    }
  }

  private Sink sink(String topic) {
    return KafkaSink.on(config).create(topic, SinkSpec.of("sink", KafkaSink.TYPE, topic));
  }
}
