package dev.lockstep.sql;

import dev.lockstep.fault.SqlFault;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Several statements sent and answered together. The server runs them in order, each with its own
 * snapshot and locks, in one round trip. A commit costs about as much as five round trips, so
 * saving them keeps a lone caller fast.
 *
 * <p>Add statements, {@link #send()}, then read the {@link Rows}. Runs on the caller's connection,
 * in the caller's transaction. Not thread-safe.
 */
public final class RoundTrip {
  private static final Meaning AS_IT_IS = thrown -> thrown;

  private final Connection connection;
  private final boolean together;
  private final List<Statement> statements = new ArrayList<>();
  private Meaning meaning = AS_IT_IS;
  private boolean answered;

  /**
   * Interprets the failure of a statement; null means that this statement cannot have caused it.
   */
  @FunctionalInterface
  public interface Meaning {
    @Nullable SQLException of(SQLException thrown);
  }

  private record Statement(String sql, List<Object> parameters, Rows<?> rows, Meaning meaning) {}

  /**
   * A trip whose failures are always attributed to the statement that failed: {@link #guarded} and
   * other statements are sent separately if it contains both.
   */
  public RoundTrip(Connection connection) {
    this(connection, false);
  }

  /**
   * @param together send all statements at once. A failed guard then cannot be told from other
   *     failures: {@link GuardFailed} says so, and the next attempt tells them apart
   */
  public RoundTrip(Connection connection, boolean together) {
    this.connection = connection;
    this.together = together;
  }

  /** Converts a row to a value. */
  @FunctionalInterface
  public interface RowReader<T> {
    T read(ResultSet row) throws SQLException;
  }

  /** The result of a statement; filled by {@link RoundTrip#send()}. */
  public static final class Rows<T> {
    private final RowReader<T> reader;
    private final List<T> list = new ArrayList<>();
    private int changed;

    private Rows(RowReader<T> reader) {
      this.reader = reader;
    }

    public List<T> list() {
      return list;
    }

    /** The number of rows changed by a statement that returns none. */
    public int changed() {
      return changed;
    }
  }

  /**
   * Adds a query.
   *
   * @param sql one statement, without a semicolon
   * @param parameters values in the order of the question marks; arrays as {@link SqlArray}
   */
  public <T> Rows<T> query(String sql, RowReader<T> reader, Object... parameters) {
    Rows<T> rows = new Rows<>(reader);
    statements.add(new Statement(sql, List.of(parameters), rows, meaning));
    return rows;
  }

  /** Adds a query of the time when the transaction began, by the database's clock. */
  public Rows<Instant> now() {
    return query("SELECT now()", row -> row.getObject(1, OffsetDateTime.class).toInstant());
  }

  /** Reads {@link #now()} in a round trip of its own. */
  public static Instant now(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Instant> now = trip.now();
    trip.send();
    return now.list().get(0);
  }

  /** Runs one query in a round trip of its own. */
  public static <T> List<T> list(
      Connection connection, String sql, RowReader<T> reader, Object... parameters)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<T> rows = trip.query(sql, reader, parameters);
    trip.send();
    return rows.list();
  }

  /** Adds a statement that returns no rows. */
  public Rows<Object> update(String sql, Object... parameters) {
    return query(sql, row -> row, parameters);
  }

  /**
   * Adds statements that guard themselves, for example with a constraint.
   *
   * @param meaning interprets a failure of these statements; it says nothing about the rest of the
   *     trip
   */
  public void guarded(UnaryOperator<SQLException> meaning, Consumer<RoundTrip> statements) {
    meaning(meaning::apply, statements);
  }

  /** Treats every statement added from here on as {@link #guarded}. */
  public RoundTrip guardedBy(UnaryOperator<SQLException> meaning) {
    this.meaning = meaning::apply;
    return this;
  }

  /** As {@link #guarded}, with a meaning that can rule these statements out as the cause. */
  public void meaning(Meaning meaning, Consumer<RoundTrip> statements) {
    Meaning before = this.meaning;
    this.meaning = meaning;
    statements.accept(this);
    this.meaning = before;
  }

  boolean isEmpty() {
    return statements.isEmpty();
  }

  /** Sends all added statements and reads every answer. Does nothing if there are none. */
  public void send() throws SQLException {
    if (together) {
      sendTogether();
    } else {
      for (RoundTrip part : parts()) {
        part.sendTogether();
      }
    }
  }

  private void sendTogether() throws SQLException {
    if (!isEmpty()) {
      send(prepare());
    }
  }

  /** Splits the trip: within one part, all statements share one meaning of a failure. */
  private List<RoundTrip> parts() {
    List<RoundTrip> parts = new ArrayList<>();
    Meaning current = null;
    for (Statement statement : statements) {
      if (statement.meaning() != current) {
        parts.add(new RoundTrip(connection, true));
        current = statement.meaning();
      }
      parts.get(parts.size() - 1).statements.add(statement);
    }
    return parts;
  }

  /** Prepares without sending: a failure here has not reached the server. */
  public PreparedStatement prepare() throws SQLException {
    PreparedStatement prepared = prepareWhole(connection, sql());
    int index = 0;
    for (Statement statement : statements) {
      for (Object parameter : statement.parameters()) {
        bind(prepared, ++index, parameter);
      }
    }
    return prepared;
  }

  /**
   * A statement that runs to its end, whatever the connection's fetch size. A statement that pauses
   * after some rows has not locked the others, and a COMMIT in the same packet would cut it off.
   */
  public static PreparedStatement prepareWhole(Connection connection, String sql)
      throws SQLException {
    PreparedStatement prepared = connection.prepareStatement(sql);
    prepared.setFetchSize(0);
    return prepared;
  }

  private String sql() {
    // Joining a single statement would create a new string, whose hash is not cached.
    if (statements.size() == 1) {
      return statements.get(0).sql();
    }
    StringJoiner joined = new StringJoiner(";\n");
    statements.forEach(statement -> joined.add(statement.sql()));
    return joined.toString();
  }

  /** Sends what {@link #prepare} prepared and reads every answer. */
  public void send(PreparedStatement prepared) throws SQLException {
    try (prepared) {
      boolean isRows = prepared.execute();
      answered = true;
      for (Statement statement : statements) {
        Rows<?> rows = statement.rows();
        if (isRows) {
          readAll(rows, prepared);
        } else {
          rows.changed = prepared.getUpdateCount();
        }
        isRows = prepared.getMoreResults();
      }
    } catch (SQLException e) {
      throw answered ? e : meaningOf(e);
    }
  }

  /** Whether the server has run every statement. Later failures are this process's own. */
  public boolean isAnswered() {
    return answered;
  }

  /**
   * The driver does not say which statement failed. Usually all meanings agree, and it does not
   * matter.
   */
  private SQLException meaningOf(SQLException thrown) {
    Meaning last = null;
    SQLException said = null;
    for (Statement statement : statements) {
      Meaning next = statement.meaning();
      SQLException saysNext = next == last ? null : next.of(thrown);
      last = next;
      if (saysNext == null) {
        continue;
      }
      if (said != null && SqlFault.of(saysNext) != SqlFault.of(said)) {
        return GuardFailed.perhaps(thrown);
      }
      said = saysNext;
    }
    return said == null ? thrown : said;
  }

  private void bind(PreparedStatement statement, int index, Object value) throws SQLException {
    if (value instanceof SqlArray array) {
      statement.setArray(index, array.on(connection));
    } else {
      statement.setObject(index, value);
    }
  }

  private static <T> void readAll(Rows<T> rows, PreparedStatement statement) throws SQLException {
    try (ResultSet result = statement.getResultSet()) {
      while (result.next()) {
        rows.list.add(rows.reader.read(result));
      }
    }
  }
}
