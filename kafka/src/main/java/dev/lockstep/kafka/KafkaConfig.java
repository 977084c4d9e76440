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
 * How a node reaches a Kafka cluster.
 *
 * @param bootstrapServers as Kafka wants it: host:port, separated by commas
 * @param namespace names this outbox in the cluster: the same on all nodes that share a database,
 *     and another for every other database that publishes to the cluster, or they would fence each
 *     other
 * @param timeout after which the broker counts as down (20 s). Less than the relay's {@code
 *     deliverTimeout}, so that the reason is known
 * @param producer further settings of the producers, security and compression above all. What order
 *     and fencing rest on cannot be set
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
          // The records of a key must come to one partition of the topic.
          ProducerConfig.PARTITIONER_CLASS_CONFIG,
          ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG,
          ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG,
          ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
          ProducerConfig.MAX_BLOCK_MS_CONFIG);
  private static final int MAX_NAMESPACE_LENGTH = 100;
  // Full batches without waiting: a commit sends whatever there is.
  private static final String BATCH_BYTES = Integer.toString(128 * 1024);
  // A transaction has to wait until the broker has put the end of the one before into the log. That
  // takes a few milliseconds, and the broker itself waits for it before it says so.
  private static final String RETRY_BACKOFF_MS = "5";

  public KafkaConfig {
    if (bootstrapServers.isBlank()) {
      throw new IllegalArgumentException("bootstrapServers is host:port, separated by commas");
    }
    if (namespace.isBlank() || namespace.length() > MAX_NAMESPACE_LENGTH) {
      throw new IllegalArgumentException(
          "A namespace is 1 to %d characters".formatted(MAX_NAMESPACE_LENGTH));
    }
    if (timeout.toMillis() < 1 || timeout.compareTo(Duration.ofMinutes(10)) > 0) {
      throw new IllegalArgumentException("timeout is a millisecond to ten minutes");
    }
    producer = Collections.unmodifiableMap(new LinkedHashMap<>(producer));
    Set<String> refused = new TreeSet<>(producer.keySet());
    refused.retainAll(NOT_SETTABLE);
    if (!refused.isEmpty()) {
      throw new IllegalArgumentException(
          "Order and fencing rest on %s: not to be set".formatted(refused));
    }
  }

  public static KafkaConfig of(String bootstrapServers, String namespace) {
    return new KafkaConfig(bootstrapServers, namespace, Duration.ofSeconds(20), Map.of());
  }

  public KafkaConfig withTimeout(Duration timeout) {
    return new KafkaConfig(bootstrapServers, namespace, timeout, producer);
  }

  /** With a setting of the producers more. */
  public KafkaConfig withProducer(String name, String value) {
    Map<String, String> all = new LinkedHashMap<>(producer);
    all.put(name, value);
    return new KafkaConfig(bootstrapServers, namespace, timeout, all);
  }

  /** One for each sink and partition, whoever owns it: what the broker tells former owners by. */
  String transactionalId(String stream, String sink, int partition) {
    // Names may contain anything; encoded, no two places share an id.
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
    // The most that keeps the order of an idempotent producer.
    all.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 5);
    all.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    all.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    all.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, timeoutMs);
    all.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, timeoutMs);
    // Delivery has to outlast linger and one request.
    all.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, Math.max(1, timeoutMs / 2));
    return all;
  }
}
