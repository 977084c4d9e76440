package dev.lockstep.examples.trades;

import dev.lockstep.kafka.KafkaSink;
import dev.lockstep.outbox.Inbox;
import dev.lockstep.outbox.Receipt;
import dev.lockstep.outbox.ReceivedEvent;
import dev.lockstep.tx.Transactor;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Keeps the portfolios' positions in its own database. A trade counts once, however often its
 * record arrives, and a missing one is noticed.
 */
final class OrderedConsumer implements AutoCloseable {
  private static final String ADD =
      """
      INSERT INTO trades.position AS p (portfolio, trades, last_trade) VALUES (?, 1, ?)
      ON CONFLICT (portfolio) DO UPDATE SET trades = p.trades + 1, last_trade = excluded.last_trade""";
  private static final Duration POLL = Duration.ofMillis(100);

  private final Transactor transactor;
  private final Inbox inbox;
  private final KafkaConsumer<byte[], byte[]> consumer;
  private final Set<String> portfolios = new HashSet<>();
  private long accepted;
  private long repeated;

  OrderedConsumer(Transactor transactor, String bootstrapServers) {
    this.transactor = transactor;
    this.inbox = new Inbox(transactor, "positions");
    this.consumer =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers", bootstrapServers,
                "group.id", "positions",
                "enable.auto.commit", false,
                "auto.offset.reset", "earliest",
                "isolation.level", "read_committed"),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
    consumer.subscribe(List.of(TradesToKafka.TOPIC));
  }

  /** Reads until this many trades have been applied. */
  Checked readUntil(long trades) {
    while (accepted < trades) {
      ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
      records.forEach(this::take);
      if (!records.isEmpty()) {
        consumer.commitSync();
      }
    }
    return new Checked(accepted, repeated, portfolios.size());
  }

  // snippet: consume
  private void take(ConsumerRecord<byte[], byte[]> record) {
    String portfolio = text(record.key());
    long seq = Long.parseLong(text(record.headers().lastHeader(KafkaSink.SEQ_HEADER).value()));
    ReceivedEvent event = new ReceivedEvent(TradesToKafka.STREAM, portfolio, seq);
    Receipt receipt =
        transactor.call(
            connection -> {
              Receipt given = inbox.receive(connection, event);
              if (given instanceof Receipt.Accepted) {
                Desk.execute(connection, ADD, portfolio, text(record.value()));
              }
              return given;
            });
    count(event, receipt);
  }

  // end: consume

  private void count(ReceivedEvent event, Receipt receipt) {
    if (receipt instanceof Receipt.Missing missing) {
      throw new IllegalStateException(
          "%s arrived before event %d of its portfolio".formatted(event, missing.expected()));
    }
    if (receipt instanceof Receipt.Repeated) {
      repeated++;
    } else {
      accepted++;
      portfolios.add(event.key());
    }
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    consumer.close();
  }
}
