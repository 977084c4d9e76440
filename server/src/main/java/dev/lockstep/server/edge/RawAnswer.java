package dev.lockstep.server.edge;

import dev.lockstep.server.api.Problem;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.util.UUID;

/** A problem for a connection that has no request to answer. */
final class RawAnswer {
  private RawAnswer() {}

  static DefaultFullHttpResponse of(Problem problem) {
    String requestId = UUID.randomUUID().toString();
    byte[] body = problem.toJson().put("requestId", requestId).toBuffer().getBytes();
    DefaultFullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.valueOf(problem.status()),
            Unpooled.wrappedBuffer(body));
    problem.toAnswer().headers().forEach((name, value) -> response.headers().set(name, value));
    response
        .headers()
        .set("X-Request-Id", requestId)
        .set("X-Content-Type-Options", "nosniff")
        .set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE)
        .set(HttpHeaderNames.CONTENT_LENGTH, body.length)
        .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    return response;
  }
}
