package dev.lockstep.kafka;

import dev.lockstep.outbox.Event;
import dev.lockstep.outbox.Session;
import dev.lockstep.outbox.SinkResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;

/**
 * A transactional producer for one partition of the outbox, under one lease. Each batch is one
 * transaction. Within it records are pipelined, and the idempotent producer keeps their order. A
 * batch is visible as a whole or not at all, so no event of a key appears without those before it.
 */
final class KafkaSession implements Session {
  static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

  private final Producer<byte[], byte[]> producer;
  private final KafkaTarget target;

  KafkaSession(Producer<byte[], byte[]> producer, KafkaTarget target) {
    this.producer = producer;
    this.target = target;
  }

  /** The outcome of a transaction. */
  private sealed interface Attempt {
    record Committed() implements Attempt {}

    /** Nothing is visible: Kafka will never accept one of the records. */
    record Refused(String error) implements Attempt {}

    /** Nothing is visible, or the outcome is unknown; no record is to blame. */
    record Failed(String reason) implements Attempt {}
  }

  /**
   * Delivers everything; or, if a record is refused, everything before it, found by halving. When a
   * transaction aborts, the producer fails unsent records with the error of the refused one. So
   * only a record alone in its transaction is known to be the refused one.
   */
  @Override
  public CompletionStage<List<SinkResult>> deliver(List<Event> events) {
    List<SinkResult> results =
        new ArrayList<>(Collections.nCopies(events.size(), SinkResult.UNSENT));
    int delivered = 0;
    int limit = events.size();
    int end = limit;
    while (delivered < limit) {
      Attempt attempt = transact(events.subList(delivered, end));
      if (attempt instanceof Attempt.Failed failed) {
        SinkResult down = new SinkResult.Down(failed.reason());
        return CompletableFuture.completedStage(Collections.nCopies(events.size(), down));
      }
      if (attempt instanceof Attempt.Refused refused) {
        if (end - delivered == 1) {
          results.set(delivered, new SinkResult.Poison(refused.error()));
          break;
        }
        limit = end;
      } else {
        Collections.fill(results.subList(delivered, end), SinkResult.DELIVERED);
        delivered = end;
      }
      end = delivered + Math.max(1, (limit - delivered) / 2);
    }
    return CompletableFuture.completedStage(results);
  }

  private Attempt transact(List<Event> events) {
    List<Future<RecordMetadata>> sent = new ArrayList<>(events.size());
    try {
      producer.beginTransaction();
      if (sendAll(events, sent)) {
        producer.commitTransaction();
        return new Attempt.Committed();
      }
      return abort(sent, "The producer refused a record");
    } catch (KafkaException | IllegalStateException e) {
      return abort(sent, reason(e));
    }
  }

  /** Returns false if the producer refuses a record at once, before asking the broker. */
  private boolean sendAll(List<Event> events, List<Future<RecordMetadata>> sent) {
    Records records = new Records(target);
    for (Event event : events) {
      Future<RecordMetadata> future = send(records, event);
      sent.add(future);
      if (future.isDone() && failure(future).isPresent()) {
        return false;
      }
    }
    return true;
  }

  /** Kafka refuses some records by a failed future and some by throwing. */
  private Future<RecordMetadata> send(Records records, Event event) {
    ProducerRecord<byte[], byte[]> record;
    try {
      record = records.of(event);
    } catch (IllegalArgumentException e) {
      return CompletableFuture.failedFuture(new InvalidRecordException(e.toString()));
    }
    try {
      return producer.send(record);
    } catch (KafkaException e) {
      if (KafkaFault.of(e) == KafkaFault.RECORD) {
        return CompletableFuture.failedFuture(e);
      }
      throw e;
    }
  }

  /** Aborts, and finds out whether a record or the sink is at fault. */
  private Attempt abort(List<Future<RecordMetadata>> sent, String reason) {
    try {
      producer.abortTransaction();
    } catch (KafkaException | IllegalStateException e) {
      // Fenced, or unreachable. The next session aborts the rest of the transaction.
      return new Attempt.Failed(reason);
    }
    Optional<String> first = Optional.empty();
    for (Future<RecordMetadata> one : sent) {
      Optional<Throwable> failure = failure(one);
      if (failure.isPresent() && KafkaFault.of(failure.get()) == KafkaFault.RECORD) {
        return new Attempt.Refused(failure.get().toString());
      }
      first = first.or(() -> failure.map(KafkaSession::reason));
    }
    return new Attempt.Failed(first.orElse(reason));
  }

  private static Optional<Throwable> failure(Future<RecordMetadata> future) {
    if (!future.isDone()) {
      return Optional.empty();
    }
    try {
      future.get();
      return Optional.empty();
    } catch (ExecutionException e) {
      return Optional.of(e.getCause() == null ? e : e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.of(e);
    }
  }

  private static String reason(Throwable failure) {
    Throwable cause = failure.getCause();
    return cause == null ? failure.toString() : cause.toString();
  }

  @Override
  public void close() {
    producer.close(CLOSE_TIMEOUT);
  }
}
