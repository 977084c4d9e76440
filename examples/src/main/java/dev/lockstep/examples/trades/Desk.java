package dev.lockstep.examples.trades;

import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** Books trades. */
final class Desk {
  private static final String TABLES =
      """
      CREATE SCHEMA trades;
      CREATE TABLE trades.booked (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, portfolio text NOT NULL,
        trade text NOT NULL);
      CREATE TABLE trades.position (
        portfolio text PRIMARY KEY, trades bigint NOT NULL, last_trade text NOT NULL)""";
  private static final String BOOK = "INSERT INTO trades.booked (portfolio, trade) VALUES (?, ?)";

  private final Transactor transactor;
  private final Outbox outbox;

  Desk(Transactor transactor, Outbox outbox) {
    this.transactor = transactor;
    this.outbox = outbox;
  }

  void createTables() {
    transactor.run(connection -> execute(connection, TABLES));
  }

  // snippet: book
  /** The trade and its event are there together, or neither is. */
  void book(String portfolio, String trade) {
    transactor.run(
        connection -> {
          execute(connection, BOOK, portfolio, trade);
          outbox.appendAtCommit(
              NewEvent.of(
                  TradesToKafka.STREAM,
                  portfolio,
                  "trade.booked",
                  Content.json('"' + trade + '"')));
        });
  }

  // end: book

  static void execute(Connection connection, String sql, Object... parameters) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < parameters.length; i++) {
        statement.setObject(i + 1, parameters[i]);
      }
      statement.execute();
    }
  }
}
