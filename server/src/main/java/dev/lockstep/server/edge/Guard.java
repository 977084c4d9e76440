package dev.lockstep.server.edge;

import dev.lockstep.server.api.Problem;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.AttributeKey;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.impl.http1.VertxHttpObject;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Watches one connection: ends steps that take too long, and reads nothing after a refused request.
 * It sits between the decoder and Vert.x, on the connection's event loop.
 *
 * <pre>
 *            head complete       body complete       answer begun       answer ended
 *   HEAD ──────────────► BODY ──────────────► ANSWER ───────────► STREAM ───────────► IDLE
 *     ▲                                                                                 │
 *     └──────────────────────── first byte of the next request ◄────────────────────────┘
 * </pre>
 *
 * <p>A step's time runs from its start; single bytes do not extend it. An answer that has begun has
 * no timeout of its own, so a live stream may stay quiet. While data is unsent, the client must
 * keep taking some of it, and neither ANSWER nor IDLE expires.
 *
 * <p>The timer is lazy. It fires at the earliest moment at which a step could be over and then
 * checks again; a busy connection sets none.
 */
final class Guard extends ChannelDuplexHandler {
  private static final AttributeKey<Guard> KEY = AttributeKey.valueOf(Guard.class, "guard");

  /**
   * Gives the client time to read the last answer: an immediate close would reset the connection.
   */
  private static final Duration LINGER = Duration.ofSeconds(2);

  /** The steps of a connection. */
  enum Step {
    HEAD,
    BODY,
    ANSWER,
    STREAM,
    IDLE
  }

  private final HttpLimits limits;
  private final Connections connections;
  private final InetAddress peer;
  private final StrictDecoder decoder;
  private final ChannelFutureListener taken = sent -> settle(sent.channel());

  private Step step = Step.HEAD;
  private long sinceNanos;
  private @Nullable Future<?> timer;
  private long timerAtNanos;

  private int unanswered;
  private boolean bodyOpen;
  private boolean answerBegun;
  // The client expects 100 before it sends its body, and has not been sent it.
  private boolean expecting;
  // The connection ends after the answer being written.
  private boolean last;
  private boolean deaf;
  private Waiting waiting = Waiting.NOTHING;
  private long lookedAtNanos;
  private @Nullable ChannelPromise lingering;
  private @Nullable HttpServerRequest current;
  private Unsent.@Nullable Account unsent;
  private long unsentBytes;

  Guard(HttpLimits limits, Connections connections, InetAddress peer) {
    this.limits = limits;
    this.connections = connections;
    this.peer = peer;
    this.decoder = new StrictDecoder(limits, this);
  }

  /** The parser of this connection. */
  StrictDecoder decoder() {
    return decoder;
  }

  /** Sets where unsent bytes are counted. */
  void countIn(Unsent.Account account) {
    unsent = account;
  }

  /** Requests parsed whose answers are not yet written. */
  int unanswered() {
    return unanswered;
  }

  /** The guard of a request's connection. */
  static Guard of(Channel channel) {
    return channel.attr(KEY).get();
  }

  /** The other end of the connection: a client or a proxy. */
  InetAddress peer() {
    return peer;
  }

  /** Names the request that is answered next on this connection. */
  void serving(HttpServerRequest request) {
    current = request;
  }

  /** Answers with the reason and ends the connection. */
  void turnAway(ChannelHandlerContext ctx, Problem problem) {
    deaf = true;
    var unused =
        ctx.writeAndFlush(RawAnswer.of(problem)).addListener(sent -> close(ctx, ctx.newPromise()));
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    ctx.channel().attr(KEY).set(this);
    sinceNanos = System.nanoTime();
    lookedAtNanos = sinceNanos;
    setTimer(ctx);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object msg) {
    if (deaf) {
      ReferenceCountUtil.release(msg);
      return;
    }
    if (msg instanceof HttpRequest request) {
      unanswered++;
      if (request.decoderResult().isSuccess()) {
        Refusal.of(request).ifPresent(why -> request.setDecoderResult(DecoderResult.failure(why)));
      }
      // Vert.x answers through the handler of invalid requests, then ends the connection.
      deaf = request.decoderResult().isFailure();
      bodyOpen = !deaf;
      expecting = HttpUtil.is100ContinueExpected(request);
      if (deaf) {
        // Answers in a version that we speak, whatever the client claims. Vert.x compares versions
        // by identity.
        boolean old = request.protocolVersion().equals(HttpVersion.HTTP_1_0);
        request.setProtocolVersion(old ? HttpVersion.HTTP_1_0 : HttpVersion.HTTP_1_1);
      }
    }
    if (msg instanceof LastHttpContent) {
      bodyOpen = false;
    }
    ctx.fireChannelRead(msg);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    step(ctx);
    ctx.fireChannelReadComplete();
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
    boolean interim =
        msg instanceof HttpResponse response
            && response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
    boolean end =
        msg instanceof LastHttpContent || (msg instanceof VertxHttpObject part && part.isEnded());
    if (interim) {
      expecting = false;
    } else {
      if (msg instanceof HttpResponse response && bodyWithheld()) {
        last = true;
        response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
      }
      answerBegun |= msg instanceof HttpResponse;
      if (end && unanswered > 0) {
        unanswered--;
        answerBegun = false;
        // Starts the clock for the next pipelined request, if it is already here.
        sinceNanos = System.nanoTime();
      }
    }
    var written = ctx.write(msg, promise.unvoid().addListener(taken));
    if (end && last) {
      deaf = true;
      written.addListener(sent -> end(ctx));
    }
    if (!interim) {
      step(ctx);
    }
    if (end) {
      decoder.answered();
    }
  }

  /**
   * Whether the current request may never get its body. After a final answer the client may
   * withhold it, and the next request would then be read as that body. The open body belongs to the
   * newest request, so it is this one's if there is no other.
   */
  private boolean bodyWithheld() {
    return expecting && bodyOpen && unanswered == 1;
  }

  @Override
  public void flush(ChannelHandlerContext ctx) {
    ctx.flush();
    settle(ctx.channel());
  }

  /**
   * Counts what the client has not taken yet. Most clients take everything at once, so there is
   * nothing to count.
   */
  private void settle(Channel channel) {
    ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
    long now = buffer == null ? 0 : buffer.totalPendingWriteBytes();
    if (now != unsentBytes && unsent != null) {
      unsentBytes = now;
      unsent.set(now);
    }
  }

  @Override
  public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
    boolean unread = deaf || bodyOpen;
    if (unread
        && lingering == null
        && ctx.channel().isActive()
        && ctx.channel() instanceof DuplexChannel channel) {
      deaf = true;
      lingering = promise;
      channel.config().setAutoRead(true);
      var unusedShut = channel.shutdownOutput();
      var unusedTimer =
          ctx.executor()
              .schedule(
                  () -> {
                    var unused = ctx.close(promise);
                  },
                  LINGER.toMillis(),
                  TimeUnit.MILLISECONDS);
    } else {
      var unusedClose = ctx.close(promise);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    if (timer != null) {
      timer.cancel(false);
    }
    if (lingering != null) {
      var unused = ctx.close(lingering);
    }
    current = null;
    if (unsent != null) {
      unsent.set(0);
    }
    ctx.fireChannelInactive();
  }

  private void step(ChannelHandlerContext ctx) {
    Step next = now();
    if (next != step) {
      step = next;
      sinceNanos = System.nanoTime();
      setTimer(ctx);
    }
  }

  private Step now() {
    if (unanswered > 0 && answerBegun) {
      return Step.STREAM;
    }
    if (bodyOpen && unanswered <= 1) {
      return Step.BODY;
    }
    if (unanswered > 0) {
      return Step.ANSWER;
    }
    boolean begun = decoder.headBegun();
    boolean first = step == Step.HEAD && !begun;
    return begun || first ? Step.HEAD : Step.IDLE;
  }

  private Duration timeout() {
    return switch (step) {
      case HEAD -> limits.headTimeout();
      case BODY -> limits.bodyTimeout();
      case ANSWER -> limits.answerTimeout();
      case STREAM -> limits.stallTimeout();
      case IDLE -> limits.idleTimeout();
    };
  }

  private void setTimer(ChannelHandlerContext ctx) {
    long now = System.nanoTime();
    long untilLook = limits.stallTimeout().toNanos() - (now - lookedAtNanos);
    long untilEnd = timeout().toNanos() - (now - sinceNanos);
    // A step that is over time but not ended waits for the client to take something.
    long wait = step == Step.STREAM || untilEnd <= 0 ? untilLook : Math.min(untilLook, untilEnd);
    if (timer != null && timerAtNanos - (now + wait) <= 0) {
      return;
    }
    if (timer != null) {
      timer.cancel(false);
    }
    timerAtNanos = now + wait;
    timer = ctx.executor().schedule(() -> look(ctx), wait, TimeUnit.NANOSECONDS);
  }

  private void look(ChannelHandlerContext ctx) {
    timer = null;
    if (!ctx.channel().isActive() || lingering != null) {
      return;
    }
    long now = System.nanoTime();
    Waiting before = waiting;
    if (now - lookedAtNanos - limits.stallTimeout().toNanos() >= 0) {
      lookedAtNanos = now;
      waiting = Waiting.on(ctx.channel());
      if (waiting.bytes() > 0 && waiting.equals(before)) {
        connections.expired(Step.STREAM);
        end(ctx);
        return;
      }
    }
    boolean over = step != Step.STREAM && now - sinceNanos - timeout().toNanos() >= 0;
    boolean ours = step == Step.ANSWER || step == Step.IDLE;
    if (over && !(ours && Waiting.on(ctx.channel()).bytes() > 0)) {
      expire(ctx);
    } else {
      setTimer(ctx);
    }
  }

  private void expire(ChannelHandlerContext ctx) {
    connections.expired(step);
    HttpServerRequest request = current;
    switch (step) {
      case HEAD -> {
        if (decoder.headBegun()) {
          turnAway(ctx, slow("The headers did not arrive in time."));
        } else {
          end(ctx);
        }
      }
      case BODY -> answer(ctx, request, slow("The body did not arrive in time."));
      case ANSWER ->
          answer(
              ctx,
              request,
              Problem.of(
                      "answer-timeout",
                      503,
                      "Answer timed out",
                      "The server did not answer in time; the request may still take effect. Repeat it"
                          + " with the same Idempotency-Key to learn what became of it.")
                  .retryAfter(Duration.ofSeconds(5)));
      default -> end(ctx);
    }
  }

  /** Goes through Vert.x, so that the request is counted and logged like any other. */
  private void answer(
      ChannelHandlerContext ctx, @Nullable HttpServerRequest request, Problem problem) {
    if (request == null || request.response().headWritten() || request.response().ended()) {
      end(ctx);
      return;
    }
    request.response().putHeader("Connection", "close");
    problem.send(request.response());
    var unused = request.connection().close();
  }

  private void end(ChannelHandlerContext ctx) {
    close(ctx, ctx.newPromise());
  }

  private static Problem slow(String detail) {
    return Problem.of("request-timeout", 408, "Request timed out", detail);
  }
}
