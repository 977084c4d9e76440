package dev.lockstep.sql;

import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL features that JDBC lacks: COPY, notifications, and binary arrays. Uses reflection, so
 * that core compiles and runs with any driver. With any driver but PostgreSQL's, COPY and
 * notifications are refused, and the driver encodes arrays itself.
 */
public final class PgDriver {
  private static final String PG_CONNECTION = "org.postgresql.PGConnection";

  private static final @Nullable ArrayMaker ARRAYS = ArrayMaker.find();

  private PgDriver() {}

  /** The driver's constructor for an array that is already binary; looked up once. */
  private record ArrayMaker(Class<?> type, MethodHandle mode, MethodHandle make) {
    static @Nullable ArrayMaker find() {
      try {
        Class<?> pg = Class.forName(PG_CONNECTION);
        Class<?> base = Class.forName("org.postgresql.core.BaseConnection");
        Class<?> mode = Class.forName("org.postgresql.jdbc.PreferQueryMode");
        Class<?> array = Class.forName("org.postgresql.jdbc.PgArray");
        var lookup = MethodHandles.publicLookup();
        return new ArrayMaker(
            pg,
            lookup.findVirtual(pg, "getPreferQueryMode", MethodType.methodType(mode)),
            lookup.findConstructor(
                array, MethodType.methodType(void.class, base, int.class, byte[].class)));
      } catch (ReflectiveOperationException | LinkageError e) {
        return null;
      }
    }
  }

  /** Null if the driver is not PostgreSQL's, or is set to text mode. */
  static @Nullable Array binaryArray(Connection connection, BinaryArray array) throws SQLException {
    if (ARRAYS == null || !connection.isWrapperFor(ARRAYS.type())) {
      return null;
    }
    Object driver = connection.unwrap(ARRAYS.type());
    try {
      return ARRAYS.mode().invoke(driver).toString().equals("SIMPLE")
          ? null
          : (Array) ARRAYS.make().invoke(driver, array.oid(), array.bytes());
    } catch (Throwable e) {
      throw new SQLException("The driver failed to create a binary array", "0A000", e);
    }
  }

  /** Sends rows in a COPY format, in the caller's transaction. Returns the number of rows. */
  public static long copyIn(Connection connection, String sql, InputStream rows)
      throws SQLException {
    Object copy = call(pgConnection(connection), "getCopyAPI", new Class<?>[0]);
    Object count =
        call(copy, "copyIn", new Class<?>[] {String.class, InputStream.class}, sql, rows);
    return (Long) count;
  }

  /** Waits for notifications and returns their distinct payloads. */
  public static Set<String> awaitNotifications(Connection connection, int timeoutMs)
      throws SQLException {
    Object found =
        call(pgConnection(connection), "getNotifications", new Class<?>[] {int.class}, timeoutMs);
    Set<String> payloads = new HashSet<>();
    if (found instanceof Object[] list) {
      for (Object one : list) {
        payloads.add(String.valueOf(call(one, "getParameter", new Class<?>[0])));
      }
    }
    return payloads;
  }

  private static Object pgConnection(Connection connection) throws SQLException {
    try {
      return connection.unwrap(Class.forName(PG_CONNECTION));
    } catch (ClassNotFoundException e) {
      throw new SQLException(
          "COPY and notifications need PostgreSQL's JDBC driver; add it to the class path",
          "0A000",
          e);
    }
  }

  private static Object call(Object target, String name, Class<?>[] types, Object... arguments)
      throws SQLException {
    try {
      Method method = publicMethod(target.getClass(), name, types);
      Object result = method.invoke(target, arguments);
      return result == null ? new Object[0] : result;
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof SQLException cause) {
        throw cause;
      }
      throw new SQLException("The driver failed in " + name, e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new SQLException("The driver has no usable " + name, "0A000", e);
    }
  }

  /** The driver's class may not be public; the interface that declares the method is. */
  private static Method publicMethod(Class<?> type, String name, Class<?>[] types)
      throws NoSuchMethodException, ClassNotFoundException {
    Class<?> declared = Class.forName(PG_CONNECTION);
    return declared.isAssignableFrom(type)
        ? declared.getMethod(name, types)
        : type.getMethod(name, types);
  }
}
