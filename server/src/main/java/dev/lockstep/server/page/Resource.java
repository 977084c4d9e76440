package dev.lockstep.server.page;

import dev.lockstep.sql.Sha256;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.internal.buffer.BufferInternal;
import io.vertx.ext.web.RoutingContext;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Immutable content served from memory. All answers share its bytes in one buffer outside the heap,
 * so a slow client costs no copy.
 */
public final class Resource {
  private static final String FOR_EVER = "public, max-age=31536000, immutable";
  private static final String ASK_AGAIN = "no-cache";

  private final Buffer content;
  private final String type;
  private final String tag;
  private final String caching;

  private Resource(byte[] content, String type, String caching) {
    this.content = shared(content);
    this.type = type;
    this.caching = caching;
    this.tag = '"' + HexFormat.of().formatHex(Sha256.of(content), 0, 16) + '"';
  }

  /** At an address that changes with the content. */
  static Resource immutable(byte[] content, String type) {
    return new Resource(content, type, FOR_EVER);
  }

  /** At a fixed address whose content may change with a release. */
  public static Resource revalidated(byte[] content, String type) {
    return new Resource(content, type, ASK_AGAIN);
  }

  public void serve(RoutingContext context) {
    HttpServerResponse response = context.response();
    response.putHeader("Cache-Control", caching).putHeader("ETag", tag);
    if (known(context.request().getHeader("If-None-Match"))) {
      response.setStatusCode(304).end();
    } else {
      response.putHeader("Content-Type", type).end(content);
    }
  }

  private static Buffer shared(byte[] content) {
    ByteBuf outside = Unpooled.directBuffer(content.length, content.length).writeBytes(content);
    return BufferInternal.buffer(outside.asReadOnly());
  }

  /** The header is a list of tags, possibly weak, or a star. */
  private boolean known(@Nullable String header) {
    if (header == null) {
      return false;
    }
    for (String one : header.split(",", -1)) {
      String given = one.strip();
      if (given.equals("*") || given.equals(tag) || given.equals("W/" + tag)) {
        return true;
      }
    }
    return false;
  }
}
