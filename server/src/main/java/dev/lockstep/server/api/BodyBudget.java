package dev.lockstep.server.api;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Bounds the bytes of all bodies in flight, in total and per address, from arrival until the answer
 * is known. Bytes count when they arrive, so a client must send what it occupies. Thread-safe.
 */
public final class BodyBudget {
  private static final Duration RETRY_AFTER = Duration.ofSeconds(5);

  private final long most;
  private final long mostPerNetwork;
  private final AtomicLong taken = new AtomicLong();
  private final Map<String, Long> byNetwork = new ConcurrentHashMap<>();

  /**
   * @param most bytes of all bodies together
   * @param mostPerNetwork bytes from one address; at least the size of the largest body
   */
  public BodyBudget(long most, long mostPerNetwork) {
    this.most = most;
    this.mostPerNetwork = mostPerNetwork;
  }

  /** The bytes now in flight. */
  public long taken() {
    return taken.get();
  }

  /**
   * @throws ProblemException when there is no room; nothing is taken then
   */
  void take(String network, int bytes) {
    long same = byNetwork.merge(network, (long) bytes, Long::sum);
    long all = taken.addAndGet(bytes);
    if (same > mostPerNetwork) {
      giveBack(network, bytes);
      throw Problem.of(
              "too-many-bodies",
              429,
              "Too many bodies",
              "Requests from this address send too many bytes at once; nothing was done.")
          .retryAfter(RETRY_AFTER)
          .asException();
    }
    if (all > most) {
      giveBack(network, bytes);
      throw Problem.overloaded(RETRY_AFTER).asException();
    }
  }

  void giveBack(String network, long bytes) {
    taken.addAndGet(-bytes);
    byNetwork.computeIfPresent(network, (key, held) -> held > bytes ? held - bytes : null);
  }
}
