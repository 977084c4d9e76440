package dev.lockstep.tx;

import dev.lockstep.testkit.LatePacket;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A real database behind a pool or driver that misbehaves at a chosen call. */
public final class Tampered {
  private Tampered() {}

  /**
   * Decides what happens at a call on a connection, named as its method; {@code proceed} makes it.
   * Sending COMMIT in a statement is a call of {@code commit}.
   */
  @FunctionalInterface
  public interface Tampering {
    @Nullable Object at(String method, Call proceed) throws Throwable;
  }

  /** The call as it was meant. */
  @FunctionalInterface
  public interface Call {
    @Nullable Object proceed() throws Throwable;
  }

  /** What is done when a connection is asked for. */
  @FunctionalInterface
  public interface Gate {
    void beforeConnection() throws SQLException;
  }

  public static DataSource connections(DataSource real, Tampering tampering) {
    return dataSource(
        real,
        (method, call) -> {
          Object result = call.proceed();
          return result instanceof Connection c ? connection(c, tampering) : result;
        });
  }

  /** One that behaves, and notes each crossing of the network by the method that causes it. */
  public static DataSource noting(DataSource real, List<String> crossings) {
    return connections(
        real,
        (method, call) -> {
          if (method.equals("prepareStatement") || method.equals("commit")) {
            crossings.add(method);
          }
          return call.proceed();
        });
  }

  /** Waits as a {@link Gate} may. */
  public static void await(CountDownLatch latch) throws SQLException {
    try {
      if (!latch.await(60, TimeUnit.SECONDS)) {
        throw new AssertionError("The gate was never opened");
      }
    } catch (InterruptedException e) {
      throw new SQLException(e);
    }
  }

  /** Runs something once, after a packet was lost and before another connection is given out. */
  public static DataSource onceLost(LatePacket network, Runnable meanwhile) {
    AtomicBoolean done = new AtomicBoolean();
    return gated(
        network.dataSource(),
        () -> {
          if (network.hasKept() && done.compareAndSet(false, true)) {
            meanwhile.run();
          }
        });
  }

  /** Each call on the connection goes by way of the tampering. */
  public static Connection connection(Connection real, Tampering tampering) {
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (self, method, args) -> {
              Object result = tampering.at(method.getName(), () -> invoke(real, method, args));
              boolean commits =
                  args != null && args[0] instanceof String sql && sql.endsWith("COMMIT");
              return commits && result instanceof PreparedStatement s
                  ? committing(s, tampering)
                  : result;
            });
  }

  private static PreparedStatement committing(PreparedStatement real, Tampering tampering) {
    return proxy(
        PreparedStatement.class,
        real,
        (method, call) -> method.equals("execute") ? tampering.at("commit", call) : call.proceed());
  }

  public static DataSource gated(DataSource real, Gate gate) {
    return dataSource(
        real,
        (method, call) -> {
          if (method.equals("getConnection")) {
            gate.beforeConnection();
          }
          return call.proceed();
        });
  }

  /** Another connection in place of the one that is handed out, which is closed. */
  public static DataSource replacing(DataSource real, UnaryOperator<Connection> replacement) {
    return dataSource(
        real,
        (method, call) -> {
          if (!(call.proceed() instanceof Connection handedOut)) {
            return call.proceed();
          }
          Connection replaced = replacement.apply(handedOut);
          if (replaced != handedOut) {
            handedOut.close();
          }
          return replaced;
        });
  }

  /** A pool of one connection, which stays open. */
  public static DataSource single(DataSource unused, Connection connection) {
    Connection kept =
        proxy(
            Connection.class,
            connection,
            (method, call) -> method.equals("close") ? null : call.proceed());
    return dataSource(unused, (method, call) -> kept);
  }

  private static DataSource dataSource(DataSource real, Tampering tampering) {
    return proxy(DataSource.class, real, tampering);
  }

  private static <T> T proxy(Class<T> type, T real, Tampering tampering) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, args) ->
                tampering.at(method.getName(), () -> invoke(real, method, args))));
  }

  private static @Nullable Object invoke(Object real, Method method, @Nullable Object[] args)
      throws Throwable {
    try {
      return method.invoke(real, args);
    } catch (InvocationTargetException e) {
      throw e.getTargetException();
    }
  }
}
