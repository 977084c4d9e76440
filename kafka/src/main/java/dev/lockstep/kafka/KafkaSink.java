package dev.lockstep.kafka;

import dev.lockstep.outbox.Session;
import dev.lockstep.outbox.Sink;
import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.outbox.SinkTypes;
import dev.lockstep.outbox.Tenure;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;

/**
 * Publishes a stream to a topic, whose name is the sink's settings: a transaction for each batch,
 * the key as the record's key, and headers that say which event it is.
 *
 * <p>A record that Kafka will never take (too large, or with a timestamp that the topic does not
 * allow) is poison and parks its key. Everything else that fails counts as the sink being down:
 * nothing is lost, no attempt is spent, and the session is opened anew. Thread-safe; connects when
 * a session is opened.
 */
public final class KafkaSink implements Sink {
  /** The type's name, as in {@code SinkTypes.standard().with(KafkaSink.TYPE, …)}. */
  public static final String TYPE = "kafka";

  public static final String STREAM_HEADER = "lockstep-stream";
  public static final String SEQ_HEADER = "lockstep-seq";
  public static final String TYPE_HEADER = "lockstep-type";
  public static final String ID_HEADER = "lockstep-id";
  public static final String CONTENT_TYPE_HEADER = "content-type";

  private static final Pattern TOPIC = Pattern.compile("[a-zA-Z0-9._-]{1,249}");

  private final KafkaConfig config;
  private final String topic;
  private final Function<Map<String, Object>, Producer<byte[], byte[]>> producers;

  KafkaSink(
      KafkaConfig config,
      String topic,
      Function<Map<String, Object>, Producer<byte[], byte[]>> producers) {
    if (!TOPIC.matcher(topic).matches() || topic.matches("\\.{1,2}")) {
      throw new IllegalArgumentException(
          "A topic is up to 249 letters, digits, dots, hyphens and underscores");
    }
    this.config = config;
    this.topic = topic;
    this.producers = producers;
  }

  /** Sinks whose settings are the name of a topic of this cluster. */
  public static SinkTypes.Factory on(KafkaConfig config) {
    return (String stream, SinkSpec spec) ->
        new KafkaSink(config, spec.settings(), KafkaProducer::new);
  }

  @Override
  public int maxInFlight() {
    return 0;
  }

  /** Fences whoever had the partition before: what it has under way is aborted. */
  @Override
  public Session open(Tenure tenure) {
    String id = config.transactionalId(tenure.stream(), tenure.sink(), tenure.partition());
    Producer<byte[], byte[]> producer = producers.apply(config.settings(id));
    try {
      producer.initTransactions();
    } catch (RuntimeException e) {
      producer.close(KafkaSession.CLOSE_TIMEOUT);
      throw e;
    }
    return new KafkaSession(producer, topic);
  }

  @Override
  public void close() {}
}
