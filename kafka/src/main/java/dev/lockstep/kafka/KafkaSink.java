package dev.lockstep.kafka;

import dev.lockstep.outbox.Session;
import dev.lockstep.outbox.Sink;
import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.outbox.SinkTypes;
import dev.lockstep.outbox.Tenure;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;

/**
 * Publishes a stream to a topic, as the sink's settings say ({@link KafkaTarget}): a transaction
 * for each batch, the key as the record's key, and headers, or CloudEvents, that say which event it
 * is.
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

  private final KafkaConfig config;
  private final KafkaTarget target;
  private final Function<Map<String, Object>, Producer<byte[], byte[]>> producers;

  KafkaSink(
      KafkaConfig config,
      KafkaTarget target,
      Function<Map<String, Object>, Producer<byte[], byte[]>> producers) {
    this.config = config;
    this.target = target;
    this.producers = producers;
  }

  /** Sinks whose settings are a {@link KafkaTarget} in this cluster: the name of a topic, say. */
  public static SinkTypes.Factory on(KafkaConfig config) {
    return (String stream, SinkSpec spec) ->
        new KafkaSink(config, KafkaTarget.parse(spec.settings()), KafkaProducer::new);
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
    return new KafkaSession(producer, target);
  }

  @Override
  public void close() {}
}
