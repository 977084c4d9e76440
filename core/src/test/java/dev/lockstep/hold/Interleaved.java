package dev.lockstep.hold;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Connections between whose statements something else happens, always at the same place. */
final class Interleaved {
  private static final String READS_HOLDS = "FROM lockstep.hold";

  private Interleaved() {}

  /** The event happens once: the pools have been read by then, and the holds have not. */
  static DataSource beforeTheHoldsAreRead(DataSource real, Runnable event) {
    AtomicBoolean happened = new AtomicBoolean();
    return proxy(
        DataSource.class,
        (method, args) -> {
          Object result = invoke(real, method, args);
          return result instanceof Connection c ? watched(c, happened, event) : result;
        });
  }

  private static Connection watched(Connection real, AtomicBoolean happened, Runnable event) {
    return proxy(
        Connection.class,
        (method, args) -> {
          boolean readsHolds =
              method.getName().equals("prepareStatement")
                  && args != null
                  && args[0] instanceof String sql
                  && sql.contains(READS_HOLDS);
          if (readsHolds && happened.compareAndSet(false, true)) {
            event.run();
          }
          return invoke(real, method, args);
        });
  }

  @FunctionalInterface
  private interface Handler {
    @Nullable Object handle(Method method, @Nullable Object @Nullable [] args) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, Handler handler) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, args) -> handler.handle(method, args)));
  }

  private static @Nullable Object invoke(
      Object real, Method method, @Nullable Object @Nullable [] args) throws Throwable {
    try {
      return method.invoke(real, args);
    } catch (InvocationTargetException e) {
      throw e.getTargetException();
    }
  }
}
