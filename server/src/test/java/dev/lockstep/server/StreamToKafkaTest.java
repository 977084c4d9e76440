package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.broker.KafkaBroker;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** From the HTTP API to a real broker. */
@Timeout(180)
class StreamToKafkaTest {
  private static final KafkaBroker broker = KafkaBroker.start();

  @RegisterExtension
  static final RunningServer server = new RunningServer().publishingTo(broker.bootstrapServers());

  @AfterAll
  static void stop() {
    broker.close();
  }

  @Test
  void eventsOfAKeyComeToItsTopicInOrderWithTheirHeaders() throws Exception {
    broker.createTopic("trades", 4, Map.of());
    Client operator = server.operator();
    JsonObject sink =
        new JsonObject().put("name", "desk").put("type", "kafka").put("topic", "trades");
    operator
        .put("/v1/streams/trades", new JsonObject().put("sinks", new JsonArray().add(sink)))
        .expect(200);
    JsonArray events = new JsonArray();
    for (int i = 1; i <= 20; i++) {
      events.add(
          new JsonObject()
              .put("key", "p" + i % 2)
              .put("type", "trade.booked")
              .put("data", new JsonObject().put("n", i)));
    }
    operator.send("POST", "/v1/streams/trades/events", events.encode(), Map.of()).expect(201);

    List<ConsumerRecord<String, String>> published = consume(20);
    List<String> seqs =
        published.stream()
            .filter(one -> one.key().equals("p1"))
            .map(one -> header(one, "lockstep-seq"))
            .distinct()
            .toList();
    assertThat(seqs).containsExactly("1", "2", "3", "4", "5", "6", "7", "8", "9", "10");
    ConsumerRecord<String, String> first = published.get(0);
    assertThat(header(first, "lockstep-stream")).isEqualTo("trades");
    assertThat(header(first, "lockstep-type")).isEqualTo("trade.booked");
    assertThat(new JsonObject(first.value()).fieldNames()).containsExactly("n");
  }

  private static List<ConsumerRecord<String, String>> consume(int count) {
    Map<String, Object> settings =
        Map.of(
            ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
            broker.bootstrapServers(),
            ConsumerConfig.GROUP_ID_CONFIG,
            "a test",
            ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
            "earliest",
            ConsumerConfig.ISOLATION_LEVEL_CONFIG,
            "read_committed",
            ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG,
            StringDeserializer.class,
            ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG,
            StringDeserializer.class);
    List<ConsumerRecord<String, String>> found = new ArrayList<>();
    try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings)) {
      consumer.subscribe(List.of("trades"));
      while (found.size() < count) {
        consumer.poll(Duration.ofMillis(100)).forEach(found::add);
      }
    }
    return found;
  }

  private static String header(ConsumerRecord<String, String> one, String name) {
    return new String(one.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
  }
}
