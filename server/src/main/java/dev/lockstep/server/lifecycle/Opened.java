package dev.lockstep.server.lifecycle;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The resources that a part of the server has opened, closed newest first. For one thread. */
public final class Opened implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Opened.class);

  private final Deque<AutoCloseable> newestFirst = new ArrayDeque<>();

  private Opened() {}

  /** Builds something from several resources: opens all of them or leaves none open. */
  public static <T> T allOrNone(Function<Opened, T> make) {
    Opened opened = new Opened();
    try {
      return make.apply(opened);
    } catch (RuntimeException | Error e) {
      opened.close();
      throw e;
    }
  }

  /** Closes this resource before those that were added earlier. */
  public <T extends AutoCloseable> T add(T resource) {
    newestFirst.push(resource);
    return resource;
  }

  /** Logs a resource that cannot be closed, and closes the others. */
  @Override
  public void close() {
    while (!newestFirst.isEmpty()) {
      try {
        newestFirst.pop().close();
      } catch (Exception e) {
        log.warn("Closing failed: {}", e.toString());
      }
    }
  }
}
