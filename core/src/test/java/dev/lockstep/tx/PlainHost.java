package dev.lockstep.tx;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A framework that binds transactions to the thread, as an application's would. One thread. */
public final class PlainHost implements HostTransactions {
  private final DataSource dataSource;
  // The last one is current; those before it are suspended.
  private final Deque<Begun> stack = new ArrayDeque<>();

  public PlainHost(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  @Override
  public Optional<HostTransaction> current(DataSource asked) {
    return Optional.ofNullable(stack.peekLast()).filter(Begun::isActive).map(one -> one);
  }

  /** Code of the application. */
  @FunctionalInterface
  public interface Code {
    void run(Connection connection) throws SQLException;
  }

  /** Begins a transaction, suspends the current one, and commits or rolls back in the end. */
  public void transaction(Code code) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      Begun begun = new Begun(connection);
      stack.addLast(begun);
      boolean returned = false;
      try {
        code.run(connection);
        returned = true;
      } finally {
        stack.removeLast();
        if (returned && begun.refused == null) {
          connection.commit();
          begun.afterCommit.forEach(Runnable::run);
        } else {
          connection.rollback();
        }
        connection.setAutoCommit(true);
      }
      if (begun.refused != null) {
        throw new IllegalStateException("rolled back", begun.refused);
      }
    }
  }

  /** Suspends the current transaction while code runs without one. */
  public void suspended(Runnable code) {
    stack.addLast(new Begun(null));
    try {
      code.run();
    } finally {
      stack.removeLast();
    }
  }

  private static final class Begun implements HostTransaction {
    private final @Nullable Connection connection;
    private final Set<Runnable> afterCommit = new LinkedHashSet<>();
    private @Nullable Throwable refused;

    Begun(@Nullable Connection connection) {
      this.connection = connection;
    }

    boolean isActive() {
      return connection != null;
    }

    @Override
    public Connection connection() {
      if (connection == null) {
        throw new IllegalStateException("suspended");
      }
      return connection;
    }

    @Override
    public void refuseCommit(Throwable because) {
      refused = because;
    }

    @Override
    public void afterCommit(Runnable action) {
      afterCommit.add(action);
    }
  }
}
