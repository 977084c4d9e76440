package dev.lockstep.combine;

import dev.lockstep.sql.AttemptResult;
import dev.lockstep.sql.Exchange;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.stream.LongStream;

/**
 * A small contended write: callers take the next number of a counter, each number recorded under
 * its caller's name, which may take only one. A name that ends with "?" only asks for the next
 * number. Tests replace single steps of it.
 */
class Tickets implements Combined<Integer, String, Long, Tickets.Plan, Long> {
  private static final String SCHEMA =
      """
      DROP TABLE IF EXISTS counter, ticket, batch;
      CREATE TABLE counter (id int PRIMARY KEY, value bigint NOT NULL);
      CREATE TABLE ticket (holder text PRIMARY KEY, counter int NOT NULL, number bigint NOT NULL,
                           UNIQUE (counter, number));
      CREATE TABLE batch (id uuid PRIMARY KEY);
      INSERT INTO counter VALUES (1, 0), (2, 0);
      """;
  private static final String ISSUE =
      "INSERT INTO ticket SELECT h, ?, n FROM unnest(?::text[], ?::bigint[]) AS t (h, n)";

  record Plan(UUID id, long last, List<String> holders, List<Long> numbers, List<Long> answers) {}

  static void createTables(TestDatabase database) {
    database.execute(SCHEMA);
  }

  @Override
  public Long lock(Exchange exchange, Integer counter, List<String> names) throws SQLException {
    Connection connection = exchange.connection();
    return Sql.query(connection, "SELECT value FROM counter WHERE id = ? FOR UPDATE", counter);
  }

  @Override
  public Plan decide(Integer counter, Long value, List<String> names) {
    List<String> holders = names.stream().filter(name -> !name.endsWith("?")).toList();
    List<Long> numbers = LongStream.rangeClosed(value + 1, value + holders.size()).boxed().toList();
    // Askers are told what the first holder of the batch would get: it is all the same to us.
    List<Long> answers =
        names.stream()
            .map(name -> name.endsWith("?") ? value + 1 : numbers.get(holders.indexOf(name)))
            .toList();
    return new Plan(UUID.randomUUID(), value + holders.size(), holders, numbers, answers);
  }

  @Override
  public void write(Exchange exchange, Integer counter, Plan plan) throws SQLException {
    Connection connection = exchange.connection();
    if (plan.holders().isEmpty()) {
      return;
    }
    Sql.execute(connection, "UPDATE counter SET value = ? WHERE id = ?", plan.last(), counter);
    Sql.execute(connection, "INSERT INTO batch VALUES (?)", plan.id());
    try (PreparedStatement statement = connection.prepareStatement(ISSUE)) {
      statement.setInt(1, counter);
      statement.setArray(2, connection.createArrayOf("text", plan.holders().toArray()));
      statement.setArray(3, connection.createArrayOf("bigint", plan.numbers().toArray()));
      statement.execute();
    }
  }

  @Override
  public List<AttemptResult<Long>> answers(Plan plan) {
    return AttemptResult.conditional(plan.answers());
  }

  @Override
  public Trace trace(Integer counter, Plan plan) {
    return plan.holders().isEmpty()
        ? new Trace.Nothing()
        : new Trace.Rows(
            connection ->
                Sql.query(connection, "SELECT count(*) FROM batch WHERE id = ?", plan.id()) == 1);
  }
}
