package dev.lockstep.kafka;

import dev.lockstep.outbox.Session;
import dev.lockstep.outbox.SessionLease;
import dev.lockstep.outbox.Sink;
import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.outbox.SinkTypes;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;

/**
 * Publishes a stream to a topic, as the sink's settings say ({@link KafkaTarget}): one transaction
 * per batch, the event's key as the record's key, and headers, or CloudEvents, that identify the
 * event.
 *
 * <p>A record that Kafka will never accept (too large, or with a timestamp that the topic does not
 * allow) is poison and parks its key. Every other failure means that the sink is down: nothing is
 * lost, no attempt is counted, and the session is opened again. Thread-safe; connects when a
 * session is opened.
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

  /**
   * Makes sinks on this cluster; their settings are a {@link KafkaTarget}, such as a topic's name.
   */
  public static SinkTypes.Factory on(KafkaConfig config) {
    return (String stream, SinkSpec spec) ->
        new KafkaSink(config, KafkaTarget.parse(spec.settings()), KafkaProducer::new);
  }

  @Override
  public int maxInFlight() {
    return 0;
  }

  /** Fences the partition's former owner: the broker aborts its open transaction. */
  @Override
  public Session open(SessionLease lease) {
    String id = config.transactionalId(lease.stream(), lease.sink(), lease.partition());
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
