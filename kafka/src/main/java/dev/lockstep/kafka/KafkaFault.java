package dev.lockstep.kafka;

import java.util.List;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.UnsupportedForMessageFormatException;

/**
 * Whose fault a failure of Kafka's is. Of a record only what will be the same however often it is
 * sent, and whatever else is sent: its size, its timestamp, its headers. Everything else may pass,
 * or is about the topic, the cluster or this producer: then no key is to blame.
 */
enum KafkaFault {
  /** Of the record: its key is parked, and a person decides. */
  RECORD,
  /** Of anything else: the sink is down for a while. */
  SINK;

  private static final List<Class<? extends Exception>> OF_THE_RECORD =
      List.of(
          // Larger than the producer, the broker or the topic allows; alone in its transaction, a
          // record is the whole batch.
          RecordTooLargeException.class,
          RecordBatchTooLargeException.class,
          // Older or newer than the topic allows.
          InvalidTimestampException.class,
          // The broker's own check of it, and what a topic demands: a key, say.
          InvalidRecordException.class,
          // Headers or a timestamp that the topic's format does not know.
          UnsupportedForMessageFormatException.class,
          SerializationException.class);

  static KafkaFault of(Throwable failure) {
    return of(failure.getClass());
  }

  static KafkaFault of(Class<?> failure) {
    return OF_THE_RECORD.stream().anyMatch(type -> type.isAssignableFrom(failure)) ? RECORD : SINK;
  }
}
