package dev.lockstep.tx;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Several statements sent together and answered together: the server runs them in order, each with
 * its own snapshot and its own locks, but the network is crossed once. With a commit costing about
 * as much as five crossings, this is what keeps a lone caller fast.
 *
 * <p>Add statements, {@link #send()}, then read the {@link Rows}. On the caller's connection, in
 * the caller's transaction; not thread-safe.
 */
public final class RoundTrip {
  private final Connection connection;
  private final List<String> statements = new ArrayList<>();
  private final List<Object> parameters = new ArrayList<>();
  private final List<Rows<?>> results = new ArrayList<>();
  private UnaryOperator<SQLException> failure = UnaryOperator.identity();

  public RoundTrip(Connection connection) {
    this.connection = connection;
  }

  /** How a row becomes a value. */
  @FunctionalInterface
  public interface RowReader<T> {
    T read(ResultSet row) throws SQLException;
  }

  /** What a statement gave; filled by {@link RoundTrip#send()}. */
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

    /** Rows changed by a statement that returns none. */
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
    statements.add(sql);
    this.parameters.addAll(List.of(parameters));
    results.add(rows);
    return rows;
  }

  /** Adds a statement that returns no rows. */
  public Rows<Object> update(String sql, Object... parameters) {
    return query(sql, row -> row, parameters);
  }

  /** Says what it means when this trip fails, after those who said so before. */
  public RoundTrip failingAs(UnaryOperator<SQLException> meaning) {
    UnaryOperator<SQLException> before = failure;
    failure = thrown -> meaning.apply(before.apply(thrown));
    return this;
  }

  boolean isEmpty() {
    return results.isEmpty();
  }

  /** Sends everything added and reads every answer. Does nothing when nothing was added. */
  public void send() throws SQLException {
    if (!isEmpty()) {
      send(prepare());
    }
  }

  /** Everything but sending it: what fails here has not reached the server. */
  PreparedStatement prepare() throws SQLException {
    // Joined, a single one would be a new string, whose hash is not known.
    String sql = statements.size() == 1 ? statements.get(0) : String.join(";\n", statements);
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int i = 0; i < parameters.size(); i++) {
      bind(statement, i + 1, parameters.get(i));
    }
    return statement;
  }

  void send(PreparedStatement prepared) throws SQLException {
    try (prepared) {
      boolean isRows = prepared.execute();
      for (Rows<?> rows : results) {
        if (isRows) {
          readAll(rows, prepared);
        } else {
          rows.changed = prepared.getUpdateCount();
        }
        isRows = prepared.getMoreResults();
      }
    } catch (SQLException e) {
      throw failure.apply(e);
    }
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
