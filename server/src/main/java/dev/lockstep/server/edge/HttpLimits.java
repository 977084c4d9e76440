package dev.lockstep.server.edge;

import dev.lockstep.server.api.BodyLimits;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * What a connection may take of the server. An address means an IPv4 address or the first 64 bits
 * of an IPv6 address; trusted proxies have no bound per address.
 *
 * @param eventLoops threads that serve HTTP; default one per processor
 * @param connections open at once; default 10,000
 * @param connectionsPerAddress open at once from one address; default 1,000
 * @param watchers live streams open at once, at most {@code connections}; default 8,000
 * @param watchersPerAddress of these from one address, at most {@code connectionsPerAddress};
 *     default 500
 * @param headTimeout from the first byte of a request, or the start of a connection, to the end of
 *     its headers; default 10 s
 * @param bodyTimeout from there to the end of the body; default 30 s
 * @param answerTimeout from there to the start of the answer; default 90 s, which is longer than
 *     any wait inside the server, long polls included
 * @param idleTimeout from an answer to the next request on the same connection; default 75 s, which
 *     is longer than proxies keep connections, so that they close first
 * @param stallTimeout how long a client may take nothing of what it is sent; default 30 s
 * @param requestLineBytes method, target and version; default 4,096
 * @param headerBytes all headers of a request; default 8,192
 * @param bodies the sizes of bodies
 * @param memory how much bodies and unsent answers may occupy together
 */
public record HttpLimits(
    int eventLoops,
    int connections,
    int connectionsPerAddress,
    int watchers,
    int watchersPerAddress,
    Duration headTimeout,
    Duration bodyTimeout,
    Duration answerTimeout,
    Duration idleTimeout,
    Duration stallTimeout,
    int requestLineBytes,
    int headerBytes,
    BodyLimits bodies,
    MemoryLimits memory) {
  private static final int MAX_EVENT_LOOPS = 256;
  private static final int MAX_CONNECTIONS = 1_000_000;
  private static final int MIN_BYTES = 1_024;
  private static final int MAX_BYTES = 1024 * 1024;
  private static final Duration MAX_TIMEOUT = Duration.ofHours(1);

  public static final HttpLimits DEFAULT =
      new HttpLimits(
          Math.min(MAX_EVENT_LOOPS, Runtime.getRuntime().availableProcessors()),
          10_000,
          1_000,
          8_000,
          500,
          Duration.ofSeconds(10),
          Duration.ofSeconds(30),
          Duration.ofSeconds(90),
          Duration.ofSeconds(75),
          Duration.ofSeconds(30),
          4_096,
          8_192,
          BodyLimits.DEFAULT,
          MemoryLimits.DEFAULT);

  public HttpLimits {
    within("eventLoops", eventLoops, 1, MAX_EVENT_LOOPS);
    within("connections", connections, 1, MAX_CONNECTIONS);
    within("connectionsPerAddress", connectionsPerAddress, 1, connections);
    within("watchers", watchers, 1, connections);
    within("watchersPerAddress", watchersPerAddress, 1, Math.min(watchers, connectionsPerAddress));
    positive("headTimeout", headTimeout);
    positive("bodyTimeout", bodyTimeout);
    positive("answerTimeout", answerTimeout);
    positive("idleTimeout", idleTimeout);
    positive("stallTimeout", stallTimeout);
    within("requestLineBytes", requestLineBytes, MIN_BYTES, MAX_BYTES);
    within("headerBytes", headerBytes, MIN_BYTES, MAX_BYTES);
    if (bodies.largeBytes() > memory.bodiesPerAddress()) {
      throw new IllegalArgumentException(
          "bodiesPerAddress must be at least %d, the size of the largest body"
              .formatted(bodies.largeBytes()));
    }
  }

  public HttpLimits withEventLoops(int number) {
    return with(next -> next.eventLoops = number);
  }

  /** Caps watchers at these connection limits, in total and per address. */
  public HttpLimits withConnections(int total, int perAddress) {
    return with(
        next -> {
          next.connections = total;
          next.connectionsPerAddress = perAddress;
          next.watchers = Math.min(watchers, total);
          next.watchersPerAddress = Math.min(watchersPerAddress, perAddress);
        });
  }

  public HttpLimits withWatchers(int total, int perAddress) {
    return with(
        next -> {
          next.watchers = total;
          next.watchersPerAddress = perAddress;
        });
  }

  public HttpLimits withReading(Duration head, Duration body) {
    return with(
        next -> {
          next.headTimeout = head;
          next.bodyTimeout = body;
        });
  }

  public HttpLimits withAnswering(Duration answer, Duration idle, Duration stall) {
    return with(
        next -> {
          next.answerTimeout = answer;
          next.idleTimeout = idle;
          next.stallTimeout = stall;
        });
  }

  public HttpLimits withBodies(BodyLimits others) {
    return with(next -> next.bodies = others);
  }

  public HttpLimits withMemory(MemoryLimits others) {
    return with(next -> next.memory = others);
  }

  private HttpLimits with(Consumer<Draft> change) {
    Draft next = new Draft(this);
    change.accept(next);
    return next.limits();
  }

  /** Limits while they are being changed. */
  private static final class Draft {
    int eventLoops;
    int connections;
    int connectionsPerAddress;
    int watchers;
    int watchersPerAddress;
    Duration headTimeout;
    Duration bodyTimeout;
    Duration answerTimeout;
    Duration idleTimeout;
    Duration stallTimeout;
    final int requestLineBytes;
    final int headerBytes;
    BodyLimits bodies;
    MemoryLimits memory;

    Draft(HttpLimits from) {
      eventLoops = from.eventLoops;
      connections = from.connections;
      connectionsPerAddress = from.connectionsPerAddress;
      watchers = from.watchers;
      watchersPerAddress = from.watchersPerAddress;
      headTimeout = from.headTimeout;
      bodyTimeout = from.bodyTimeout;
      answerTimeout = from.answerTimeout;
      idleTimeout = from.idleTimeout;
      stallTimeout = from.stallTimeout;
      requestLineBytes = from.requestLineBytes;
      headerBytes = from.headerBytes;
      bodies = from.bodies;
      memory = from.memory;
    }

    HttpLimits limits() {
      return new HttpLimits(
          eventLoops,
          connections,
          connectionsPerAddress,
          watchers,
          watchersPerAddress,
          headTimeout,
          bodyTimeout,
          answerTimeout,
          idleTimeout,
          stallTimeout,
          requestLineBytes,
          headerBytes,
          bodies,
          memory);
    }
  }

  private static void within(String name, int value, int min, int max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          "%s must be %d to %d, not %d".formatted(name, min, max, value));
    }
  }

  private static void positive(String name, Duration value) {
    if (value.isNegative() || value.isZero() || value.compareTo(MAX_TIMEOUT) > 0) {
      throw new IllegalArgumentException(name + " must be more than 0 and at most " + MAX_TIMEOUT);
    }
  }
}
