package dev.lockstep.tx;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Several statements sent together and answered together: the server runs them in order, each with
 * its own snapshot and its own locks, but the network is crossed once. With a commit costing about
 * as much as five crossings, this is what keeps a lone caller fast.
 *
 * <p>Add statements, {@link #send()}, then read the {@link Rows}. On the caller's connection, in
 * the caller's transaction; not thread-safe.
 */
public final class RoundTrip {
  private static final Meaning AS_IT_IS = thrown -> thrown;

  private final Connection connection;
  private final boolean together;
  private final List<Statement> statements = new ArrayList<>();
  private Meaning meaning = AS_IT_IS;
  private boolean answered;

  /** What it means that a statement failed with this; null: that can not have been it. */
  @FunctionalInterface
  interface Meaning {
    @Nullable SQLException of(SQLException thrown);
  }

  private record Statement(String sql, List<Object> parameters, Rows<?> rows, Meaning meaning) {}

  /**
   * A trip whose failure is always put down to the statement that failed: {@link #guarded}
   * statements and others are sent one after the other if there are both.
   */
  public RoundTrip(Connection connection) {
    this(connection, false);
  }

  /**
   * @param together send all at once, though nobody can tell then whether it was a guard that
   *     failed: {@link GuardFailed} says so, and the attempt after it tells them apart
   */
  RoundTrip(Connection connection, boolean together) {
    this.connection = connection;
    this.together = together;
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
    statements.add(new Statement(sql, List.of(parameters), rows, meaning));
    return rows;
  }

  /** Adds a statement that returns no rows. */
  public Rows<Object> update(String sql, Object... parameters) {
    return query(sql, row -> row, parameters);
  }

  /**
   * Adds statements that guard themselves.
   *
   * @param meaning what it means when one of these fails; of what else is in the trip it says
   *     nothing
   */
  public void guarded(UnaryOperator<SQLException> meaning, Consumer<RoundTrip> statements) {
    meaning(meaning::apply, statements);
  }

  /** From here on every statement guards itself, as in {@link #guarded}. */
  public RoundTrip guardedBy(UnaryOperator<SQLException> meaning) {
    this.meaning = meaning::apply;
    return this;
  }

  /** As {@link #guarded}, for statements that fail in a few ways only. */
  void meaning(Meaning meaning, Consumer<RoundTrip> statements) {
    Meaning before = this.meaning;
    this.meaning = meaning;
    statements.accept(this);
    this.meaning = before;
  }

  boolean isEmpty() {
    return statements.isEmpty();
  }

  /** Sends everything added and reads every answer. Does nothing when nothing was added. */
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

  /** In each of them all statements mean the same by failing. */
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

  /** Everything but sending it: what fails here has not reached the server. */
  PreparedStatement prepare() throws SQLException {
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
   * A statement that runs to its end, whatever fetch size the connection has: one that pauses after
   * some rows has not taken the locks of the others, and COMMIT in the same packet would cut it
   * off.
   */
  static PreparedStatement prepareWhole(Connection connection, String sql) throws SQLException {
    PreparedStatement prepared = connection.prepareStatement(sql);
    prepared.setFetchSize(0);
    return prepared;
  }

  private String sql() {
    // Joined, a single one would be a new string, whose hash is not known.
    if (statements.size() == 1) {
      return statements.get(0).sql();
    }
    StringJoiner joined = new StringJoiner(";\n");
    statements.forEach(statement -> joined.add(statement.sql()));
    return joined.toString();
  }

  void send(PreparedStatement prepared) throws SQLException {
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

  /** Whether the server has run every statement. What fails from then on fails in this process. */
  boolean isAnswered() {
    return answered;
  }

  /** The driver does not say which statement failed; mostly it makes no difference. */
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
