package dev.lockstep.server.edge;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import io.vertx.core.http.Http1ServerConfig;
import io.vertx.core.http.impl.http1.VertxHttpRequestDecoder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Parses the requests of one connection, at most {@link #MAX_UNANSWERED} ahead: a parsed request
 * takes many times the memory of its bytes. Later ones stay unread until an answer is on its way.
 */
final class StrictDecoder extends VertxHttpRequestDecoder {
  /** One being answered, and one ready to follow. */
  static final int MAX_UNANSWERED = 2;

  private final HeadReader head = new HeadReader();
  private final Guard guard;
  private @Nullable ChannelHandlerContext context;
  private boolean inHead = true;
  private int seen;
  private boolean held;
  private boolean stoppedReading;

  StrictDecoder(HttpLimits limits, Guard guard) {
    super(
        new Http1ServerConfig()
            .setMaxInitialLineLength(limits.requestLineBytes())
            .setMaxHeaderSize(limits.headerBytes()));
    this.guard = guard;
  }

  /** Whether part of a request's head, but not all of it, is here. */
  boolean headBegun() {
    return head.begun();
  }

  /** Resumes what was held after an answer. */
  void answered() {
    ChannelHandlerContext ctx = context;
    if (!held || ctx == null || guard.unanswered() >= MAX_UNANSWERED) {
      return;
    }
    held = false;
    // Deferred, because this is called while an answer is being written.
    ctx.executor().execute(() -> resume(ctx));
  }

  private void resume(ChannelHandlerContext ctx) {
    if (stoppedReading) {
      stoppedReading = false;
      ctx.channel().config().setAutoRead(true);
    }
    ctx.pipeline().fireChannelRead(Unpooled.EMPTY_BUFFER);
    ctx.pipeline().fireChannelReadComplete();
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) throws Exception {
    context = ctx;
    super.handlerAdded(ctx);
  }

  @Override
  protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
    if (guard.unanswered() >= MAX_UNANSWERED) {
      hold(ctx);
      return;
    }
    if (inHead) {
      head.look(in, in.readerIndex() + seen);
      seen = in.readableBytes();
    }
    int before = in.readableBytes();
    super.decode(ctx, in, out);
    seen = Math.max(0, seen - (before - in.readableBytes()));
    out.forEach(this::parsed);
  }

  /** Stops reading. Vert.x does so only after many messages, and here it sees few. */
  private void hold(ChannelHandlerContext ctx) {
    held = true;
    if (!stoppedReading && ctx.channel().config().isAutoRead()) {
      stoppedReading = true;
      ctx.channel().config().setAutoRead(false);
    }
  }

  private void parsed(Object message) {
    if (message instanceof HttpRequest request) {
      inHead = false;
      String wrong = head.wrong();
      if (wrong != null && request.decoderResult().isSuccess()) {
        request.setDecoderResult(DecoderResult.failure(Refusal.malformed(wrong)));
      }
    }
    if (message instanceof LastHttpContent) {
      inHead = true;
      head.reset();
      seen = 0;
    }
  }
}
