package dev.lockstep.server.edge;

import dev.lockstep.server.api.Caller;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.metric.Metrics;
import io.micrometer.core.instrument.Counter;
import io.netty.buffer.Unpooled;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.RecvByteBufAllocator;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.impl.HttpServerConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The connections of a server: bounds how many there are in total and per address, and puts a
 * {@link Guard} on each. Thread-safe; all event loops share one instance.
 */
public final class Connections {
  /**
   * At most this many connections (or the connection limit, if lower) are told that there are too
   * many. Any more are closed without an answer.
   */
  static final int MAX_TURNED_AWAY = 1_000;

  private enum Reason {
    MALFORMED,
    TOTAL,
    ADDRESS
  }

  /** The receive buffer of one connection before anything is parsed. Netty's default is a MiB. */
  private static final RecvByteBufAllocator RECEIVING =
      new AdaptiveRecvByteBufAllocator(512, 2_048, 16_384).maxMessagesPerRead(1);

  private static final Duration RETRY_AFTER = Duration.ofSeconds(5);

  private static final InetAddress NOBODY = new InetSocketAddress(0).getAddress();

  private final HttpLimits limits;
  private final Trust trust;
  private final Forwarding forwarding;
  private final Map<Guard.Step, Counter> expired = new EnumMap<>(Guard.Step.class);
  private final Map<Reason, Counter> refused = new EnumMap<>(Reason.class);
  private final Counter dropped;
  private final Unsent unsent;
  private final AtomicInteger open = new AtomicInteger();
  private final Set<ChannelHandlerContext> guarded = ConcurrentHashMap.newKeySet();
  private final Map<String, Integer> byNetwork = new ConcurrentHashMap<>();

  public Connections(HttpLimits limits, Trust trust, Metrics metrics) {
    this.limits = limits;
    this.trust = trust;
    this.forwarding = new Forwarding(trust);
    this.unsent = new Unsent(limits.memory());
    this.dropped =
        metrics.counter(
            "lockstep.http.dropped", "Connections closed because too many bytes were unsent.");
    metrics.gauge(
        "lockstep.http.unsent.bytes", "Bytes that clients have not taken yet.", unsent::bytes);
    for (Guard.Step step : Guard.Step.values()) {
      expired.put(
          step,
          metrics.counter(
              "lockstep.http.timeouts",
              "Connections ended because a step took too long.",
              "step",
              label(step)));
    }
    for (Reason reason : Reason.values()) {
      refused.put(
          reason,
          metrics.counter(
              "lockstep.http.refused",
              "Connections and requests refused unserved.",
              "reason",
              label(reason)));
    }
    metrics.gauge("lockstep.http.connections", "Open client connections.", open::get);
  }

  /** For every new connection, on its event loop, before anything is read. */
  public void admit(HttpConnection connection) {
    ChannelHandlerContext vertx = ((HttpServerConnection) connection).channelHandlerContext();
    InetAddress peer = peer(vertx.channel());
    Guard guard = new Guard(limits, this, peer);
    vertx.pipeline().replace("httpDecoder", "httpDecoder", guard.decoder());
    vertx.pipeline().addBefore(vertx.name(), "guard", guard);
    vertx.channel().config().setRecvByteBufAllocator(RECEIVING);
    boolean proxy = trust.isProxy(peer);
    ChannelHandlerContext inner = vertx.pipeline().context(guard);
    guarded.add(inner);
    guard.countIn(unsent.of(Caller.network(peer), !proxy, () -> drop(inner)));
    Optional<String> network = proxy ? Optional.empty() : Optional.of(Caller.network(peer));
    int all = open.incrementAndGet();
    int same = network.map(name -> byNetwork.merge(name, 1, Integer::sum)).orElse(0);
    var unused =
        vertx
            .channel()
            .closeFuture()
            .addListener(
                closed -> {
                  guarded.remove(inner);
                  left(network);
                });
    if (all > limits.connections() + Math.min(MAX_TURNED_AWAY, limits.connections())) {
      refused(Reason.TOTAL);
      unused = vertx.close();
    } else if (all > limits.connections()) {
      refused(Reason.TOTAL);
      guard.turnAway(inner, Problem.overloaded(RETRY_AFTER));
    } else if (same > limits.connectionsPerAddress()) {
      refused(Reason.ADDRESS);
      guard.turnAway(inner, tooMany());
    }
  }

  /** Determines the caller of a request, through trusted proxies, before it is served. */
  public Caller begin(HttpServerRequest request) {
    Guard guard = Guard.of(channel(request));
    guard.serving(request);
    return forwarding.caller(guard.peer(), request.headers());
  }

  /** The answer to a request that cannot be served as sent. */
  public Problem refuse(HttpServerRequest request) {
    Guard.of(channel(request)).serving(request);
    refused(Reason.MALFORMED);
    return Refusal.problem(request.decoderResult().cause());
  }

  /** The open connections, including those being turned away. */
  public int open() {
    return open.get();
  }

  /** Without an answer: the client would not read it. */
  private void drop(ChannelHandlerContext inner) {
    dropped.increment();
    inner
        .executor()
        .execute(
            () -> {
              var unused = inner.close();
            });
  }

  /** Completes when every client has taken what it was sent so far, or has left. */
  public Future<?> flushed() {
    return Future.join(guarded.stream().map(Connections::flushed).toList());
  }

  /** An empty buffer queues behind everything written before it. */
  private static Future<Void> flushed(ChannelHandlerContext inner) {
    Promise<Void> promise = Promise.promise();
    var unused = inner.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(sent -> promise.complete());
    return promise.future();
  }

  /** Ends every connection at once, unsent data included. */
  public void endAll() {
    // From inside the guard, which would otherwise wait for unsent data.
    for (ChannelHandlerContext inner : guarded) {
      var unused = inner.close();
    }
  }

  void expired(Guard.Step step) {
    Objects.requireNonNull(expired.get(step)).increment();
  }

  private void refused(Reason reason) {
    Objects.requireNonNull(refused.get(reason)).increment();
  }

  private static String label(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private void left(Optional<String> network) {
    open.decrementAndGet();
    network.ifPresent(
        name -> byNetwork.computeIfPresent(name, (key, count) -> count > 1 ? count - 1 : null));
  }

  private static Channel channel(HttpServerRequest request) {
    return ((HttpServerConnection) request.connection()).channelHandlerContext().channel();
  }

  private static InetAddress peer(Channel channel) {
    return channel.remoteAddress() instanceof InetSocketAddress address
            && address.getAddress() != null
        ? address.getAddress()
        : NOBODY; // Already gone; nothing will be read from it.
  }

  private static Problem tooMany() {
    return Problem.of(
            "too-many-connections",
            429,
            "Too many connections",
            "This address has too many connections open; close or reuse some.")
        .retryAfter(RETRY_AFTER);
  }
}
