package dev.lockstep.server.edge;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;

/**
 * What a client has not taken yet. If two successive values are equal, it took nothing in between.
 *
 * @param bytes of everything unsent
 * @param first which message is first
 * @param firstBytes what is left of it
 */
record Waiting(long bytes, int first, int firstBytes) {
  static final Waiting NOTHING = new Waiting(0, 0, 0);

  static Waiting on(Channel channel) {
    ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
    Object first = buffer == null ? null : buffer.current();
    return first == null
        ? NOTHING
        : new Waiting(
            buffer.totalPendingWriteBytes(),
            System.identityHashCode(first),
            first instanceof ByteBuf bytes ? bytes.readableBytes() : 0);
  }
}
