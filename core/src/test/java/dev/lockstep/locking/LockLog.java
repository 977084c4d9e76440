package dev.lockstep.locking;

import dev.lockstep.sql.LockOrder.RowKind;
import dev.lockstep.testkit.TestDatabase;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/** The rows that each transaction locks, read from the statements that it sends. */
public final class LockLog {
  /** A lock taken, with the words of the statement that takes it. */
  public record Lock(RowKind kind, boolean recorded, String statement) {}

  private static final List<RowKind> ORDER = List.of(RowKind.values());

  private static final Map<String, RowKind> TABLES =
      Map.of(
          "once", RowKind.ONCE,
          "hold", RowKind.HOLD,
          "pool", RowKind.POOL,
          "unit", RowKind.UNIT,
          "quota", RowKind.QUOTA,
          "account", RowKind.ACCOUNT,
          "outbox_key", RowKind.OUTBOX_KEY,
          "job", RowKind.JOB,
          "job_unique", RowKind.JOB);

  private static final Pattern MOVE = Pattern.compile("SELECT lockstep\\.move\\([$\\d?, ]*\\)");
  private static final Pattern INNERMOST = Pattern.compile("\\(([^()]*)\\)");
  private static final Pattern LOCKING =
      Pattern.compile("FROM lockstep\\.(\\w+)(?:(?!\\bFROM\\b).)*?\\bFOR (?:NO KEY )?UPDATE");
  private static final Pattern CHANGING =
      Pattern.compile("(?<!DO )\\b(?:UPDATE|DELETE FROM) lockstep\\.(\\w+)");
  private static final Pattern INSERTING =
      Pattern.compile("INSERT INTO lockstep\\.(\\w+).*\\bON CONFLICT\\b");

  private final String move;
  private final List<List<Lock>> transactions = new CopyOnWriteArrayList<>();

  public LockLog(TestDatabase database) {
    this.move =
        database
            .query(
                "SELECT prosrc FROM pg_proc WHERE pronamespace = 'lockstep'::regnamespace"
                    + " AND proname = 'move'",
                row -> row.getString(1))
            .get(0);
  }

  /** The same database; what is sent there by a connection is one transaction of this log. */
  DataSource on(DataSource real) {
    return proxy(
        DataSource.class,
        real,
        (name, args, result) -> {
          if (!(result instanceof Connection connection)) {
            return result;
          }
          List<Lock> locks = new CopyOnWriteArrayList<>();
          transactions.add(locks);
          return proxy(
              Connection.class,
              connection,
              (method, with, answer) -> {
                if (method.equals("prepareStatement") && with[0] instanceof String sql) {
                  locks.addAll(locks(sql));
                }
                return answer;
              });
        });
  }

  /** The locks of each transaction that took any, in order. */
  List<List<Lock>> transactions() {
    return transactions.stream().filter(locks -> !locks.isEmpty()).map(List::copyOf).toList();
  }

  void clear() {
    transactions.clear();
  }

  /** The first lock that comes too late in its transaction. */
  public static Optional<String> outOfOrder(List<Lock> locks) {
    List<Lock> first = firstOfEachKind(locks);
    for (int i = 0; i < first.size(); i++) {
      for (int j = i + 1; j < first.size(); j++) {
        if (place(first.get(j)) < place(first.get(i)) && !isCovered(first, j)) {
          return Optional.of(first.get(j) + " after " + first.get(i));
        }
      }
    }
    return Optional.empty();
  }

  /**
   * A row that the transaction has locked does not make it wait again: only a kind's first lock
   * counts.
   */
  static List<Lock> firstOfEachKind(List<Lock> locks) {
    List<Lock> first = new ArrayList<>();
    for (Lock lock : locks) {
      if (first.stream().noneMatch(one -> one.kind() == lock.kind())) {
        first.add(lock);
      }
    }
    return first;
  }

  private static double place(Lock lock) {
    return lock.recorded() ? ORDER.indexOf(RowKind.ACCOUNT) + 0.5 : ORDER.indexOf(lock.kind());
  }

  private static boolean isCovered(List<Lock> first, int index) {
    return first.get(index).kind() == RowKind.UNIT
        && first.subList(0, index).stream().anyMatch(lock -> lock.kind() == RowKind.POOL);
  }

  /** The locks of a statement, or of several that are sent together. */
  public List<Lock> locks(String sql) {
    String plain =
        MOVE.matcher(sql)
            .replaceAll(Matcher.quoteReplacement(move))
            .replaceAll("--[^\\n]*", " ")
            .replaceAll("'[^']*'", "''")
            .replaceAll("\\s+", " ");
    List<Lock> locks = new ArrayList<>();
    for (String statement : plain.split(";", -1)) {
      add(locks, statement);
    }
    return locks;
  }

  /** What stands in parentheses runs first, at the latest when the rest asks for it. */
  private static void add(List<Lock> locks, String statement) {
    String rest = statement;
    Matcher inner = INNERMOST.matcher(rest);
    while (inner.find()) {
      addFlat(locks, inner.group(1));
      rest = rest.substring(0, inner.start()) + " " + rest.substring(inner.end());
      inner = INNERMOST.matcher(rest);
    }
    addFlat(locks, rest);
  }

  private static void addFlat(List<Lock> locks, String flat) {
    for (Pattern pattern : List.of(LOCKING, CHANGING, INSERTING)) {
      Matcher found = pattern.matcher(flat);
      while (found.find()) {
        RowKind kind = TABLES.get(found.group(1));
        if (kind != null) {
          boolean recorded = kind == RowKind.ONCE && flat.contains("DO UPDATE");
          locks.add(new Lock(kind, recorded, flat.strip()));
        }
      }
    }
  }

  /** What to return for a call, its arguments and its result. */
  @FunctionalInterface
  private interface Interceptor {
    Object returned(String method, Object[] args, Object result) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, T real, Interceptor interceptor) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, args) -> {
              try {
                return interceptor.returned(method.getName(), args, method.invoke(real, args));
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
