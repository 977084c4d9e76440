package dev.lockstep.server.edge;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.metric.Metrics;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Of requests sent one behind the other, only the next is parsed while one is answered. */
class HeldRequestsTest {
  private static final String GET = "GET /%d HTTP/1.1\r\nHost: a\r\n\r\n";

  private EmbeddedChannel channel;
  private Guard guard;

  @BeforeEach
  void connect() {
    guard =
        new Guard(
            HttpLimits.DEFAULT,
            new Connections(HttpLimits.DEFAULT, Trust.DEFAULT, new Metrics()),
            InetAddress.getLoopbackAddress());
    channel = new EmbeddedChannel(guard.decoder(), new HttpResponseEncoder(), guard);
  }

  @AfterEach
  void disconnect() {
    channel.finishAndReleaseAll();
  }

  @Test
  void nothingIsParsedBehindTheNextRequest() {
    StringBuilder many = new StringBuilder();
    for (int i = 0; i < 1_000; i++) {
      many.append(GET.formatted(i));
    }
    channel.writeInbound(bytes(many.toString()));
    assertThat(guard.unanswered()).isEqualTo(StrictDecoder.MAX_UNANSWERED);
    assertThat(channel.config().isAutoRead()).isFalse();
    for (int i = 0; i < 1_000; i++) {
      assertThat(nextRequest()).isEqualTo("/" + i);
      answer();
      assertThat(guard.unanswered()).isLessThanOrEqualTo(StrictDecoder.MAX_UNANSWERED);
    }
    assertThat(guard.unanswered()).isZero();
    assertThat(channel.config().isAutoRead()).isTrue();
  }

  @Test
  void aBodyBehindARequestThatIsAnsweredWaits() {
    channel.writeInbound(
        bytes(
            GET.formatted(0)
                + "POST /1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "1\r\na\r\n".repeat(1_000)
                + "0\r\n\r\n"
                + GET.formatted(2)));
    assertThat(channel.inboundMessages()).hasSize(3);
    answer();
    assertThat(channel.inboundMessages()).hasSizeGreaterThan(1_000);
    assertThat(nextRequest()).isEqualTo("/0");
    assertThat(nextRequest()).isEqualTo("/1");
    assertThat(nextRequest()).isEqualTo("/2");
  }

  private void answer() {
    channel.writeOutbound(
        new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.NO_CONTENT));
    channel.runPendingTasks();
    channel.releaseOutbound();
  }

  private String nextRequest() {
    for (Object next = channel.readInbound(); next != null; next = channel.readInbound()) {
      if (next instanceof HttpRequest request) {
        return request.uri();
      }
      ReferenceCountUtil.release(next);
    }
    return "none";
  }

  private static ByteBuf bytes(String text) {
    return Unpooled.copiedBuffer(text, US_ASCII);
  }
}
