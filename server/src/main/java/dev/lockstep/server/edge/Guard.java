package dev.lockstep.server.edge;

import dev.lockstep.server.api.Problem;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
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
 * Watches one connection: that each step of it ends in time, and that nothing is read after a
 * request that was refused. It stands between the decoder and Vert.x, and lives on the connection's
 * event loop.
 *
 * <pre>
 *            head complete       body complete       answer begun       answer ended
 *   HEAD ──────────────► BODY ──────────────► ANSWER ───────────► STREAM ───────────► IDLE
 *     ▲                                                                                 │
 *     └──────────────────────── first byte of the next request ◄────────────────────────┘
 * </pre>
 *
 * <p>A step's time runs from its beginning and is not prolonged by single bytes. Answers have no
 * time-out of their own once begun: it is enough that the client takes some of what is sent. So a
 * live stream may be quiet for as long as it likes.
 *
 * <p>The timer is lazy. It is set to the earliest end that a step could have, and looks again when
 * it comes; a busy connection sets none.
 */
final class Guard extends ChannelDuplexHandler {
  private static final AttributeKey<Guard> KEY = AttributeKey.valueOf(Guard.class, "guard");

  /**
   * For what is still on its way when we have no more to say: closed at once, it would be reset.
   */
  private static final Duration LINGER = Duration.ofSeconds(2);

  /** Where a connection is. */
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

  private Step step = Step.HEAD;
  private long sinceNanos;
  private @Nullable Future<?> timer;
  private long timerAtNanos;

  private int unanswered;
  private boolean bodyOpen;
  private boolean headBegun;
  private boolean answerBegun;
  private boolean messageRead;
  private boolean deaf;
  private long pendingBytes;
  private @Nullable ChannelPromise lingering;
  private @Nullable HttpServerRequest current;

  Guard(HttpLimits limits, Connections connections, InetAddress peer) {
    this.limits = limits;
    this.connections = connections;
    this.peer = peer;
  }

  /** The guard of the connection that a request came on. */
  static Guard of(Channel channel) {
    return channel.attr(KEY).get();
  }

  /** Whoever is at the other end of the connection: a client, or a proxy. */
  InetAddress peer() {
    return peer;
  }

  /** The request whose answer is next on this connection. */
  void serving(HttpServerRequest request) {
    current = request;
  }

  /** Says why this connection is not served, and ends it. */
  void turnAway(ChannelHandlerContext ctx, Problem problem) {
    deaf = true;
    var unused =
        ctx.writeAndFlush(RawAnswer.of(problem)).addListener(sent -> close(ctx, ctx.newPromise()));
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    ctx.channel().attr(KEY).set(this);
    sinceNanos = System.nanoTime();
    setTimer(ctx);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object msg) {
    if (deaf) {
      ReferenceCountUtil.release(msg);
      return;
    }
    messageRead = true;
    if (msg instanceof HttpRequest request) {
      unanswered++;
      headBegun = false;
      if (request.decoderResult().isSuccess()) {
        Refusal.of(request).ifPresent(why -> request.setDecoderResult(DecoderResult.failure(why)));
      }
      // Vert.x answers through the handler of invalid requests, then ends the connection.
      deaf = request.decoderResult().isFailure();
      bodyOpen = !deaf;
    }
    if (msg instanceof LastHttpContent) {
      bodyOpen = false;
    }
    ctx.fireChannelRead(msg);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    // Bytes came, and no message: they are the beginning of a head.
    headBegun |= !messageRead && unanswered == 0 && !bodyOpen;
    messageRead = false;
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
    if (!interim) {
      answerBegun |= msg instanceof HttpResponse;
      if (end && unanswered > 0) {
        unanswered--;
        answerBegun = false;
      }
    }
    var unused = ctx.write(msg, promise);
    if (!interim) {
      step(ctx);
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
    boolean first = step == Step.HEAD && !headBegun;
    return headBegun || first ? Step.HEAD : Step.IDLE;
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
    long atNanos = sinceNanos + timeout().toNanos();
    if (timer != null && timerAtNanos - atNanos <= 0) {
      return;
    }
    if (timer != null) {
      timer.cancel(false);
    }
    timerAtNanos = atNanos;
    timer =
        ctx.executor().schedule(() -> look(ctx), atNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
  }

  private void look(ChannelHandlerContext ctx) {
    timer = null;
    if (!ctx.channel().isActive() || lingering != null) {
      return;
    }
    boolean over = System.nanoTime() - sinceNanos - timeout().toNanos() >= 0;
    if (over && !taking(ctx)) {
      expire(ctx);
      return;
    }
    if (over) {
      sinceNanos = System.nanoTime();
    }
    setTimer(ctx);
  }

  /** Whether the client has taken something since we last looked, or has nothing to take. */
  private boolean taking(ChannelHandlerContext ctx) {
    ChannelOutboundBuffer buffer = ctx.channel().unsafe().outboundBuffer();
    long pending = buffer == null ? 0 : buffer.totalPendingWriteBytes();
    boolean progress = pending != pendingBytes;
    pendingBytes = pending;
    return switch (step) {
      case STREAM -> progress || pending == 0;
      case IDLE -> progress && pending > 0;
      default -> false;
    };
  }

  private void expire(ChannelHandlerContext ctx) {
    connections.expired(step);
    HttpServerRequest request = current;
    switch (step) {
      case HEAD -> {
        if (headBegun) {
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
                      "No answer was found in time; the request may still take effect. Repeat it"
                          + " with the same Idempotency-Key to learn what became of it.")
                  .retryAfter(Duration.ofSeconds(5)));
      default -> end(ctx);
    }
  }

  /** Through Vert.x, so that the request is counted and logged as any other. */
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
