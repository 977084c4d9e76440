package dev.lockstep.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.Event;
import dev.lockstep.outbox.Inbox;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.ParkedKey;
import dev.lockstep.outbox.Receipt;
import dev.lockstep.outbox.Relay;
import dev.lockstep.outbox.Session;
import dev.lockstep.outbox.SessionLease;
import dev.lockstep.outbox.SinkActionResult;
import dev.lockstep.outbox.SinkResult;
import dev.lockstep.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What a topic gets, and how a relay goes on when Kafka does not take it. */
class KafkaSinkTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Stage stage = new Stage(database);

  @Test
  void aRecordHasTheKeyTheContentAndHeadersThatSayWhichEventItIs() {
    stage.define(Map.of());
    Outbox outbox = stage.outbox();
    NewEvent event =
        NewEvent.of(stage.stream, "portfolio 7 ü", "trade.booked", Content.json("{\"n\":1}"))
            .withHeader("region", "eu")
            .withTraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    stage.transactor().run(connection -> outbox.append(connection, event));
    stage.start(Stage.kafka());

    Published record = stage.awaitPublished(1).get(0);

    long id = outbox.events(stage.stream, "portfolio 7 ü", 0, 1).get(0).id();
    assertThat(record.key()).isEqualTo("portfolio 7 ü");
    assertThat(record.text()).isEqualTo("{\"n\":1}");
    assertThat(record.headers())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "lockstep-stream", stage.stream,
                "lockstep-seq", "1",
                "lockstep-type", "trade.booked",
                "lockstep-id", Long.toString(id),
                "content-type", "application/json",
                "region", "eu",
                "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
  }

  @Test
  void eachRecordOfABatchHasItsOwnTypeAndContentType() {
    stage.define(Map.of());
    Outbox outbox = stage.outbox();
    List<NewEvent> events =
        List.of(
            NewEvent.of(stage.stream, "a", "one", Content.json("{}")),
            NewEvent.of(stage.stream, "a", "two", Content.json("{}")),
            NewEvent.of(stage.stream, "a", "two", Content.of("text/plain", new byte[0])),
            NewEvent.of(stage.stream, "a", "one", Content.json("{}"))
                .withHeader("content-type", "text/html"));
    stage.transactor().run(connection -> outbox.appendAll(connection, events));
    stage.start(Stage.kafka());

    assertThat(stage.awaitPublished(4))
        .extracting(
            record -> record.headers().get("lockstep-type"),
            record -> record.headers().get("content-type"))
        .containsExactly(
            tuple("one", "application/json"),
            tuple("two", "application/json"),
            tuple("two", "text/plain"),
            tuple("one", "text/html"));
  }

  @ParameterizedTest
  @CsvSource({"one, two, true", "one, one, false"})
  void outboxesFenceEachOtherUnlessEachHasANameOfItsOwnInTheCluster(
      String name, String other, boolean delivers) throws Exception {
    stage.define(Map.of());
    SessionLease lease = new SessionLease(stage.stream, Stage.SINK, 0, 1);
    Event event =
        new Event(1, stage.stream, "a", 1, "noted", Content.json("{}"), Map.of(), Instant.EPOCH);
    try (Session first = sink(name).open(lease);
        Session second = sink(other).open(lease)) {
      assertThat(delivered(second, event)).isTrue();
      assertThat(delivered(first, event)).isEqualTo(delivers);
    }
    assertThat(stage.published()).hasSize(delivers ? 2 : 1);
  }

  private KafkaSink sink(String namespace) {
    KafkaConfig config = KafkaConfig.of(Stage.broker().bootstrapServers(), namespace);
    return new KafkaSink(config, KafkaTarget.parse(stage.topic), KafkaProducer::new);
  }

  private static boolean delivered(Session session, Event event) {
    return session
        .deliver(List.of(event))
        .toCompletableFuture()
        .join()
        .equals(List.of(SinkResult.DELIVERED));
  }

  @Test
  void aHotKeyIsPipelinedAndStaysInOrder() {
    stage.define(Map.of());
    stage.start(Stage.kafka());
    int count = 3_000;
    String[] texts =
        LongStream.rangeClosed(1, count).mapToObj(Long::toString).toArray(String[]::new);
    stage.append("hot", texts);

    List<Published> all = stage.awaitPublished(count);

    assertThat(all).extracting(Published::text).containsExactly(texts);
    assertThat(stage.seqs("hot")).isEqualTo(LongStream.rangeClosed(1, count).boxed().toList());
  }

  /**
   * Does always what Kafka's producer does now and then: what it has not sent yet when a record is
   * refused fails with the error of that record.
   */
  private static final class Blaming extends KafkaProducer<byte[], byte[]> {
    private final List<CompletableFuture<RecordMetadata>> ofTransaction = new ArrayList<>();

    Blaming(Map<String, Object> settings) {
      super(settings);
    }

    @Override
    public void beginTransaction() {
      ofTransaction.clear();
      super.beginTransaction();
    }

    @Override
    public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record) {
      Future<RecordMetadata> real = super.send(record);
      CompletableFuture<RecordMetadata> shown = new CompletableFuture<>();
      ofTransaction.add(shown);
      if (!real.isDone()) {
        return shown;
      }
      try {
        shown.complete(real.get());
      } catch (ExecutionException e) {
        ofTransaction.forEach(one -> one.completeExceptionally(e.getCause()));
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return shown;
    }
  }

  /** Who refuses what is too large. */
  enum Refusal {
    PRODUCER,
    BROKER
  }

  @ParameterizedTest
  @EnumSource
  void anOversizedRecordParksItsKeyAndNothingOvertakesIt(Refusal by) {
    int limit = 20_000;
    stage.define(
        by == Refusal.BROKER ? Map.of("max.message.bytes", Integer.toString(limit)) : Map.of());
    KafkaConfig config =
        by == Refusal.PRODUCER
            ? Stage.kafka().withProducer("max.request.size", Integer.toString(limit))
            : Stage.kafka();
    stage.append("big", "first", "x".repeat(2 * limit), "third");
    stage.append("small", "a", "b");
    stage.start(
        by == Refusal.PRODUCER
            ? Stage.types(config, Blaming::new)
            : Stage.types(config, KafkaProducer::new));

    Stage.until("parked", () -> parked().isPresent());
    assertThat(parked().orElseThrow().seq()).isEqualTo(2);
    assertThat(parked().orElseThrow().error()).contains("RecordTooLarge");
    stage.append("big", "fourth");
    stage.append("small", "c");
    // "first" went out before it, all of the others after the batch that it spoilt.
    Stage.until("the others flow", () -> stage.seqs("small").equals(List.of(1L, 2L, 3L)));
    // A commit is answered before each partition of the topic shows what it committed.
    Stage.until("the first is seen", () -> !stage.seqs("big").isEmpty());

    assertThat(stage.seqs("big")).containsExactly(1L);
    SinkActionResult skipped =
        stage
            .transactor()
            .call(
                c ->
                    stage
                        .outbox()
                        .skip(c, stage.stream, Stage.SINK, "big", 2, "test", "too large to send"));
    assertThat(skipped).isInstanceOf(SinkActionResult.Changed.class);
    Stage.until("it goes on", () -> stage.seqs("big").equals(List.of(1L, 3L, 4L)));
  }

  @Test
  void aTimestampThatTheTopicRefusesParksItsKeyWhichCanBeSkipped() {
    stage.define(Map.of("message.timestamp.before.max.ms", "3600000"));
    stage.append("old", "first", "second");
    database.execute(
        "UPDATE lockstep.outbox_event SET appended_at = now() - interval '1 day' WHERE key = 'old'"
            + " AND seq = 1");
    stage.append("new", "a");
    Relay relay = stage.start(Stage.kafka());

    Stage.until("parked", () -> parked().isPresent());
    assertThat(parked().orElseThrow().error()).contains("InvalidTimestamp");
    Stage.until("the others flow", () -> stage.seqs("new").equals(List.of(1L)));
    assertThat(relay.sinks()).allMatch(sink -> sink.down().isEmpty());
    SinkActionResult skipped =
        stage
            .transactor()
            .call(
                c ->
                    stage
                        .outbox()
                        .skip(c, stage.stream, Stage.SINK, "old", 1, "test", "too old to send"));

    assertThat(skipped).isInstanceOf(SinkActionResult.Changed.class);
    Stage.until("it goes on", () -> stage.seqs("old").equals(List.of(2L)));
  }

  private Optional<ParkedKey> parked() {
    return stage.outbox().parked(stage.stream, Stage.SINK, Optional.empty(), 10).stream()
        .findFirst();
  }

  @Test
  void aBrokerThatIsDownSpendsNoAttemptsAndNeedsNoHands() {
    stage.define(Map.of());
    Relay relay = stage.start(Stage.kafka().withTimeout(Duration.ofSeconds(2)));
    stage.append("a", "1");
    stage.awaitPublished(1);

    Stage.broker().kill();
    stage.append("a", "2", "3");
    stage.append("b", "1");
    Stage.until(
        "known to be down", () -> relay.sinks().stream().anyMatch(one -> one.down().isPresent()));
    assertThat(parked()).isEmpty();
    Stage.broker().restart();

    stage.awaitPublished(4);
    assertThat(stage.seqs("a")).containsExactly(1L, 2L, 3L);
    assertThat(stage.seqs("b")).containsExactly(1L);
    Stage.until(
        "known to be up", () -> relay.sinks().stream().noneMatch(one -> one.down().isPresent()));
  }

  /** Commits, and loses the answer: the first time, or always. */
  private static final class Forgetful extends KafkaProducer<byte[], byte[]> {
    private final AtomicInteger left;

    Forgetful(Map<String, Object> settings, AtomicInteger left) {
      super(settings);
      this.left = left;
    }

    @Override
    public void commitTransaction() {
      super.commitTransaction();
      if (left.getAndDecrement() > 0) {
        throw new KafkaException("The answer was lost");
      }
    }
  }

  @Test
  void aRepeatCarriesTheSameSequenceAndTheInboxDropsIt() {
    stage.define(Map.of());
    AtomicInteger lost = new AtomicInteger(1);
    stage.append("a", "1", "2", "3");
    stage.start(Stage.types(Stage.kafka(), settings -> new Forgetful(settings, lost)));
    stage.awaitPublished(6);
    stage.append("a", "4");
    List<Published> all = stage.awaitPublished(7);

    assertThat(all).extracting(Published::seq).containsExactly(1L, 2L, 3L, 1L, 2L, 3L, 4L);
    Set<String> ids = new HashSet<>();
    all.forEach(one -> ids.add(one.seq() + " " + one.headers().get("lockstep-id")));
    assertThat(ids).hasSize(4);
    Inbox inbox = new Inbox(stage.transactor(), "consumer");
    List<String> effects = new ArrayList<>();
    for (Published one : all) {
      stage
          .transactor()
          .run(
              connection -> {
                Receipt receipt = inbox.receive(connection, one.received());
                assertThat(receipt).isNotInstanceOf(Receipt.Missing.class);
                if (receipt instanceof Receipt.Accepted) {
                  effects.add(one.text());
                }
              });
    }
    assertThat(effects).containsExactly("1", "2", "3", "4");
  }
}
