package dev.lockstep.kafka;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Configures access to a Kafka cluster.
 *
 * @param bootstrapServers in Kafka's form: host:port, separated by commas
 * @param namespace names this outbox in the cluster: the same on all nodes that share a database,
 *     and different for every other database that publishes to the cluster, or they would fence
 *     each other
 * @param timeout after this the broker counts as down (20 s). Keep it below the relay's {@code
 *     deliverTimeout}, so that the reason is known
 * @param producer further producer settings, mainly security and compression. Settings that order
 *     and fencing depend on are refused
 */
public record KafkaConfig(
    String bootstrapServers, String namespace, Duration timeout, Map<String, String> producer) {

  private static final Set<String> NOT_SETTABLE =
      Set.of(
          ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
          ProducerConfig.CLIENT_ID_CONFIG,
          ProducerConfig.TRANSACTIONAL_ID_CONFIG,
          ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
          ProducerConfig.ACKS_CONFIG,
          ProducerConfig.RETRIES_CONFIG,
          ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION,
          ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
          ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG,
          // A key's records must go to one partition of the topic.
          ProducerConfig.PARTITIONER_CLASS_CONFIG,
          ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG,
          ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG,
          ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
          ProducerConfig.MAX_BLOCK_MS_CONFIG);
  private static final int MAX_NAMESPACE_LENGTH = 100;
  // Large batches, without lingering: a commit sends whatever there is.
  private static final String BATCH_BYTES = Integer.toString(128 * 1024);
  // A transaction must wait until the broker has logged the end of the previous one, which takes a
  // few milliseconds. Until then the broker asks the producer to retry.
  private static final String RETRY_BACKOFF_MS = "5";

  public KafkaConfig {
    if (bootstrapServers.isBlank()) {
      throw new IllegalArgumentException("bootstrapServers must be host:port, separated by commas");
    }
    if (namespace.isBlank() || namespace.length() > MAX_NAMESPACE_LENGTH) {
      throw new IllegalArgumentException(
          "namespace must be 1 to %d characters".formatted(MAX_NAMESPACE_LENGTH));
    }
    if (timeout.toMillis() < 1 || timeout.compareTo(Duration.ofMinutes(10)) > 0) {
      throw new IllegalArgumentException("timeout must be 1 ms to 10 min");
    }
    producer = Collections.unmodifiableMap(new LinkedHashMap<>(producer));
    Set<String> refused = new TreeSet<>(producer.keySet());
    refused.retainAll(NOT_SETTABLE);
    if (!refused.isEmpty()) {
      throw new IllegalArgumentException(
          "Order and fencing depend on %s; remove these producer settings".formatted(refused));
    }
  }

  public static KafkaConfig of(String bootstrapServers, String namespace) {
    return new KafkaConfig(bootstrapServers, namespace, Duration.ofSeconds(20), Map.of());
  }

  public KafkaConfig withTimeout(Duration timeout) {
    return new KafkaConfig(bootstrapServers, namespace, timeout, producer);
  }

  /** Adds a producer setting. */
  public KafkaConfig withProducer(String name, String value) {
    Map<String, String> all = new LinkedHashMap<>(producer);
    all.put(name, value);
    return new KafkaConfig(bootstrapServers, namespace, timeout, all);
  }

  /**
   * One id per sink and partition, whichever node owns it: the broker fences former owners by it.
   */
  String transactionalId(String stream, String sink, int partition) {
    // Names may contain any character; encoding keeps ids distinct.
    return "%s/%s/%s/%d".formatted(encoded(namespace), encoded(stream), encoded(sink), partition);
  }

  private static String encoded(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8);
  }

  Map<String, Object> settings(String transactionalId) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put(ProducerConfig.BATCH_SIZE_CONFIG, BATCH_BYTES);
    all.put(ProducerConfig.RETRY_BACKOFF_MS_CONFIG, RETRY_BACKOFF_MS);
    all.putAll(producer);
    int timeoutMs = Math.toIntExact(timeout.toMillis());
    all.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
    all.put(ProducerConfig.CLIENT_ID_CONFIG, transactionalId);
    all.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, transactionalId);
    all.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    all.put(ProducerConfig.ACKS_CONFIG, "all");
    // The most that keeps an idempotent producer's order.
    all.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 5);
    all.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    all.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    all.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, timeoutMs);
    all.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, timeoutMs);
    // The delivery timeout must exceed linger plus one request.
    all.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, Math.max(1, timeoutMs / 2));
    return all;
  }
}
