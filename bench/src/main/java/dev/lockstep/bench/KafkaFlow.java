package dev.lockstep.bench;

import dev.lockstep.kafka.KafkaSink;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** Kafka's own producer on the records that the sink sends, and a consumer that checks a topic. */
final class KafkaFlow {
  private static final Duration POLL = Duration.ofMillis(100);
  // More would keep the garbage collector busy; they are sent repeatedly.
  private static final int IN_MEMORY = 500_000;

  private KafkaFlow() {}

  /**
   * Sends records from memory as fast as an idempotent producer can; returns the rate per second.
   */
  static double produce(String name, String bootstrapServers, String topic, int count) {
    LongAdder acknowledged = new LongAdder();
    AtomicReference<@Nullable Exception> failed = new AtomicReference<>();
    double seconds;
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of(
                "bootstrap.servers",
                bootstrapServers,
                "acks",
                "all",
                "enable.idempotence",
                true,
                "batch.size",
                128 * 1024),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      List<ProducerRecord<byte[], byte[]>> records = records(topic, Math.min(count, IN_MEMORY));
      producer.partitionsFor(topic);
      // Keeps the garbage of making the records out of the measurement.
      System.gc();
      long startedNanos = System.nanoTime();
      for (int n = 0; n < count; n++) {
        var unused =
            producer.send(
                records.get(n % records.size()),
                (metadata, failure) -> {
                  if (failure == null) {
                    acknowledged.increment();
                  } else {
                    failed.compareAndSet(null, failure);
                  }
                });
      }
      producer.flush();
      seconds = (System.nanoTime() - startedNanos) / 1e9;
    }
    if (failed.get() != null) {
      throw new IllegalStateException(name + " failed", failed.get());
    }
    Report.requireBalance(name, count, acknowledged.sum());
    return count / seconds;
  }

  private static List<ProducerRecord<byte[], byte[]>> records(String topic, int count) {
    Map<String, Long> seqs = new HashMap<>();
    List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>(count);
    for (int n = 0; n < count; n++) {
      String portfolio = Trades.portfolio(n, Relaying.PORTFOLIOS);
      records.add(record(topic, n, portfolio, seqs.merge(portfolio, 1L, Long::sum)));
    }
    return records;
  }

  private static ProducerRecord<byte[], byte[]> record(
      String topic, long number, String portfolio, long seq) {
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(topic, bytes(portfolio), bytes(Trades.json(number)));
    record.headers().add(KafkaSink.STREAM_HEADER, bytes(topic));
    record.headers().add(KafkaSink.SEQ_HEADER, bytes(Long.toString(seq)));
    record.headers().add(KafkaSink.TYPE_HEADER, bytes(Trades.TYPE));
    record.headers().add(KafkaSink.ID_HEADER, bytes(Long.toString(number)));
    record.headers().add(KafkaSink.CONTENT_TYPE_HEADER, bytes("application/json"));
    return record;
  }

  /** The current end of a topic, after which the check begins. */
  static Map<TopicPartition, Long> end(String bootstrapServers, String topic) {
    try (KafkaConsumer<byte[], byte[]> consumer = consumer(bootstrapServers)) {
      return consumer.endOffsets(partitions(consumer, topic));
    }
  }

  /** Reads a topic to its end; requires each key's sequences from 1 on, in order, without a gap. */
  static void requireInOrder(
      String name,
      String bootstrapServers,
      String topic,
      Map<TopicPartition, Long> from,
      long expected) {
    Map<String, Long> seqs = new HashMap<>();
    long count = 0;
    long outOfOrder = 0;
    try (KafkaConsumer<byte[], byte[]> consumer = consumer(bootstrapServers)) {
      List<TopicPartition> partitions = partitions(consumer, topic);
      consumer.assign(partitions);
      from.forEach(consumer::seek);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      while (partitions.stream()
          .anyMatch(one -> consumer.position(one) < ends.getOrDefault(one, 0L))) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
          count++;
          String key = new String(record.key(), StandardCharsets.UTF_8);
          long seq =
              Long.parseLong(
                  new String(
                      record.headers().lastHeader(KafkaSink.SEQ_HEADER).value(),
                      StandardCharsets.UTF_8));
          outOfOrder += seq == seqs.merge(key, 1L, Long::sum) ? 0 : 1;
        }
      }
    }
    Report.requireBalance(name + ", in the topic", expected, count);
    Report.requireBalance(name + ", out of order in the topic", 0, outOfOrder);
  }

  private static KafkaConsumer<byte[], byte[]> consumer(String bootstrapServers) {
    return new KafkaConsumer<>(
        Map.of("bootstrap.servers", bootstrapServers, "isolation.level", "read_committed"),
        new ByteArrayDeserializer(),
        new ByteArrayDeserializer());
  }

  private static List<TopicPartition> partitions(
      KafkaConsumer<byte[], byte[]> consumer, String topic) {
    return consumer.partitionsFor(topic).stream()
        .map(info -> new TopicPartition(topic, info.partition()))
        .toList();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
