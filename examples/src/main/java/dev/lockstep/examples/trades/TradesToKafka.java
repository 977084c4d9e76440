package dev.lockstep.examples.trades;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.kafka.KafkaConfig;
import dev.lockstep.kafka.KafkaSink;
import dev.lockstep.migration.Migrations;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.Relay;
import dev.lockstep.outbox.RelayConfig;
import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.outbox.SinkTypes;
import dev.lockstep.tx.Transactor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.errors.TopicExistsException;

/**
 * Books trades of portfolios, publishes them to a topic with four relays, and checks their order on
 * the consumer's side: {@code TradesToKafka JDBC-URL BOOTSTRAP-SERVERS}, with an empty database.
 */
public final class TradesToKafka {
  static final String STREAM = "trades";
  static final String TOPIC = "trades";
  private static final int RELAYS = 4;
  private static final int WRITERS = 8;
  private static final int TOPIC_PARTITIONS = 6;
  private static final int POOL_SIZE = 20;
  private static final int PORTFOLIOS = 50;
  private static final int TRADES = 5_000;

  private final Transactor transactor;
  private final Outbox outbox;
  private final String bootstrapServers;

  TradesToKafka(DataSource dataSource, String bootstrapServers) {
    this.transactor = new Transactor(dataSource);
    this.outbox = new Outbox(transactor);
    this.bootstrapServers = bootstrapServers;
  }

  public static void main(String[] args) throws Exception {
    if (args.length != 2) {
      System.err.println("Usage: TradesToKafka JDBC-URL BOOTSTRAP-SERVERS");
      System.exit(2);
    }
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl(args[0]);
    pool.setMaximumPoolSize(POOL_SIZE);
    try (HikariDataSource dataSource = new HikariDataSource(pool)) {
      Migrations.apply(dataSource);
      TradesToKafka example = new TradesToKafka(dataSource, args[1]);
      System.out.println(example.run(PORTFOLIOS, TRADES));
    }
  }

  /**
   * Books trades while four relays publish them and a consumer reads them. Half of the relays leave
   * midway; the others take over their portfolios.
   */
  Checked run(int portfolios, int trades) throws Exception {
    Desk desk = new Desk(transactor, outbox);
    desk.createTables();
    createTopic();
    List<Relay> relays = startRelays();
    ExecutorService writers = Executors.newFixedThreadPool(WRITERS);
    try (OrderedConsumer consumer = new OrderedConsumer(transactor, bootstrapServers)) {
      List<Future<?>> booking = new ArrayList<>();
      for (int writer = 0; writer < WRITERS; writer++) {
        int first = writer;
        booking.add(
            writers.submit(
                () -> {
                  for (int n = first; n < trades; n += WRITERS) {
                    desk.book("portfolio-" + n % portfolios, "BUY " + n);
                  }
                }));
      }
      consumer.readUntil(trades / 2);
      List<Relay> leaving = relays.subList(0, RELAYS / 2);
      leaving.forEach(Relay::close);
      leaving.clear();
      Checked checked = consumer.readUntil(trades);
      for (Future<?> one : booking) {
        one.get();
      }
      return checked;
    } finally {
      writers.shutdownNow();
      relays.forEach(Relay::close);
    }
  }

  // snippet: relays
  /** Every node relays: here four in one process, sharing the portfolios among them. */
  private List<Relay> startRelays() {
    outbox.define(STREAM, List.of(SinkSpec.of("kafka", KafkaSink.TYPE, TOPIC)), "example");
    SinkTypes types =
        SinkTypes.standard()
            .with(KafkaSink.TYPE, KafkaSink.on(KafkaConfig.of(bootstrapServers, "example")));
    List<Relay> relays = new ArrayList<>();
    for (int i = 1; i <= RELAYS; i++) {
      relays.add(outbox.relay(RelayConfig.named("relay-" + i), types));
    }
    return relays;
  }

  // end: relays

  private void createTopic() throws InterruptedException {
    try (Admin admin =
        Admin.create(Map.<String, Object>of("bootstrap.servers", bootstrapServers))) {
      // With the brokers' default number of replicas.
      admin
          .createTopics(
              List.of(new NewTopic(TOPIC, Optional.of(TOPIC_PARTITIONS), Optional.empty())))
          .all()
          .get();
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof TopicExistsException)) {
        throw new IllegalStateException(e.getCause());
      }
    }
  }
}
