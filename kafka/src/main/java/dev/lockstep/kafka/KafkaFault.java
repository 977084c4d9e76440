package dev.lockstep.kafka;

import java.util.List;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.UnsupportedForMessageFormatException;

/**
 * Classifies a Kafka failure. It is the record's fault only if it repeats on every attempt: the
 * record's size, timestamp or headers. Everything else may pass, or concerns the topic, the cluster
 * or this producer; then no key is to blame.
 */
enum KafkaFault {
  /** The record's fault: its key is parked, and an operator decides. */
  RECORD,
  /** Anything else: the sink is down for a while. */
  SINK;

  private static final List<Class<? extends Exception>> OF_THE_RECORD =
      List.of(
          // Larger than the producer, the broker or the topic allows. Alone in its transaction, a
          // record is the whole batch.
          RecordTooLargeException.class,
          RecordBatchTooLargeException.class,
          // Older or newer than the topic allows.
          InvalidTimestampException.class,
          // The broker's own check, or a topic's rule, such as a required key.
          InvalidRecordException.class,
          // Headers or a timestamp that the topic's format does not support.
          UnsupportedForMessageFormatException.class,
          SerializationException.class);

  static KafkaFault of(Throwable failure) {
    return of(failure.getClass());
  }

  static KafkaFault of(Class<?> failure) {
    return OF_THE_RECORD.stream().anyMatch(type -> type.isAssignableFrom(failure)) ? RECORD : SINK;
  }
}
