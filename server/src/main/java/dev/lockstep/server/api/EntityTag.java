package dev.lockstep.server.api;

import dev.lockstep.sql.Sha256;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.Arrays;
import java.util.Base64;

/**
 * The ETag of an answer, hashed from its whole content so that no change goes unnoticed, and the
 * 304 for a client that already has it.
 *
 * <p>Jobs and schedules carry their version instead, for {@code If-Match}. A run does not change
 * that version, so it cannot prove that nothing changed; {@code If-None-Match} is ignored there.
 */
final class EntityTag {
  private static final int BYTES = 16;

  private EntityTag() {}

  static Answer of(Endpoint endpoint, Answer answer, HttpServerRequest request) {
    if (!endpoint.isTagged() || answer.status() != 200) {
      return answer;
    }
    String tag = of(answer.bytes());
    boolean known =
        request.headers().getAll(HttpHeaders.IF_NONE_MATCH).stream()
            .flatMap(header -> Arrays.stream(header.split(",", -1)))
            .map(String::strip)
            .anyMatch(one -> one.equals("*") || weak(one).equals(tag));
    return (known ? Answer.notModified() : answer).withHeader("ETag", tag);
  }

  /** Weak and strong tags compare as equal. */
  private static String weak(String tag) {
    return tag.startsWith("W/") ? tag.substring(2) : tag;
  }

  private static String of(Buffer body) {
    byte[] hash = Sha256.of(body.getBytes());
    String text =
        Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(hash, BYTES));
    return "\"" + text + "\"";
  }
}
