package dev.lockstep.kafka;

import dev.lockstep.outbox.ReceivedEvent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A record as a consumer gets it that reads what is committed. */
record Published(String key, String text, Map<String, String> headers) {
  private static final Duration POLL = Duration.ofMillis(100);

  long seq() {
    return Long.parseLong(headers.getOrDefault(KafkaSink.SEQ_HEADER, "0"));
  }

  ReceivedEvent received() {
    return new ReceivedEvent(headers.getOrDefault(KafkaSink.STREAM_HEADER, ""), key, seq());
  }

  /** All that is in a topic now, each of its partitions in its order. */
  static List<Published> in(String bootstrapServers, String topic) {
    return records(bootstrapServers, topic).stream().map(Published::of).toList();
  }

  /** The same, as Kafka's own client gives it. */
  static List<ConsumerRecord<byte[], byte[]>> records(String bootstrapServers, String topic) {
    List<ConsumerRecord<byte[], byte[]>> all = new ArrayList<>();
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers",
                bootstrapServers,
                "isolation.level",
                "read_committed",
                "auto.offset.reset",
                "earliest"),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer())) {
      List<TopicPartition> partitions =
          consumer.partitionsFor(topic).stream()
              .map(info -> new TopicPartition(topic, info.partition()))
              .toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      // Up to the last stable offset: what is decided.
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      while (partitions.stream()
          .anyMatch(one -> consumer.position(one) < ends.getOrDefault(one, 0L))) {
        consumer.poll(POLL).forEach(all::add);
      }
    }
    return all;
  }

  private static Published of(ConsumerRecord<byte[], byte[]> record) {
    Map<String, String> headers = new HashMap<>();
    for (Header header : record.headers()) {
      headers.put(header.key(), new String(header.value(), StandardCharsets.UTF_8));
    }
    return new Published(
        new String(record.key(), StandardCharsets.UTF_8),
        new String(record.value(), StandardCharsets.UTF_8),
        headers);
  }
}
