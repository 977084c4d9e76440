package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.Event;
import dev.lockstep.outbox.Inbox;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.Receipt;
import dev.lockstep.outbox.ReceivedEvent;
import dev.lockstep.outbox.Relay;
import dev.lockstep.outbox.RelayConfig;
import dev.lockstep.outbox.Session;
import dev.lockstep.outbox.SessionLease;
import dev.lockstep.outbox.Sink;
import dev.lockstep.outbox.SinkResult;
import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.outbox.SinkTypes;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The examples of the document about the outbox, run. */
class OutboxExampleTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  // snippet: outbox
  /** The trade and its event are there together, or neither is. */
  static void book(Transactor transactor, Outbox outbox, String portfolio, long trade) {
    transactor.run(
        connection -> {
          run(connection, "INSERT INTO trades (id) VALUES (?)", trade);
          outbox.appendAtCommit(
              NewEvent.of(
                  "trades", portfolio, "trade.booked", Content.json("{\"id\":" + trade + "}")));
        });
  }

  /** On each node: as many as there are share the portfolios. */
  static Relay startRelay(Outbox outbox, SinkTypes types) {
    outbox.define("trades", List.of(SinkSpec.of("desk", "print", "")), "ann");
    return outbox.relay(RelayConfig.named("node-1"), types);
  }

  // end: outbox

  // snippet: sink
  /** Prints what it gets. A real one says Poison, RetryLater or Down when something is wrong. */
  record PrintSink(Consumer<String> printer) implements Sink, Session {
    @Override
    public int maxInFlight() {
      return 0; // batches, in order
    }

    @Override
    public Session open(SessionLease lease) {
      return this; // nothing to connect or to fence
    }

    @Override
    public CompletionStage<List<SinkResult>> deliver(List<Event> events) {
      events.forEach(event -> printer.accept(event.key() + " " + event.seq()));
      return CompletableFuture.completedStage(
          events.stream().map(event -> SinkResult.DELIVERED).toList());
    }

    @Override
    public void close() {}
  }

  static SinkTypes types(Consumer<String> printer) {
    return SinkTypes.standard().with("print", (stream, spec) -> new PrintSink(printer));
  }

  // end: sink

  // snippet: inbox
  /** In the consumer's database: however often an event comes, it is counted once. */
  static Receipt consume(Transactor transactor, Inbox inbox, ReceivedEvent event) {
    return transactor.call(
        connection -> {
          Receipt receipt = inbox.receive(connection, event);
          if (receipt instanceof Receipt.Accepted) {
            run(connection, "UPDATE counted SET n = n + ?", 1);
          }
          return receipt;
        });
  }

  // end: inbox

  @Test
  void aTradeIsPublishedInOrderAndCountedOnce() {
    database.execute(
        """
        CREATE TABLE trades (id bigint PRIMARY KEY);
        CREATE TABLE counted (n bigint NOT NULL);
        INSERT INTO counted VALUES (0)""");
    Transactor transactor = new Transactor(database.dataSource());
    Outbox outbox = new Outbox(transactor);
    List<String> printed = new CopyOnWriteArrayList<>();
    try (Relay relay = startRelay(outbox, types(printed::add))) {
      book(transactor, outbox, "p1", 100);
      book(transactor, outbox, "p1", 101);

      Await.until("printed", () -> printed.size() == 2);
      assertThat(printed).containsExactly("p1 1", "p1 2");
      assertThat(relay.ownedPartitions()).isEqualTo(16);
    }
    Inbox inbox = new Inbox(transactor, "counter");
    ReceivedEvent event = new ReceivedEvent("trades", "p1", 1);
    assertThat(consume(transactor, inbox, event)).isEqualTo(new Receipt.Accepted());
    assertThat(consume(transactor, inbox, event)).isEqualTo(new Receipt.Repeated(1));
    assertThat(database.queryLong("SELECT n FROM counted")).isOne();
  }

  private static void run(Connection connection, String sql, long value) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setLong(1, value);
      statement.execute();
    }
  }
}
