package dev.lockstep.server.api;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
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
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(body.getBytes());
      String text =
          Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(hash, BYTES));
      return "\"" + text + "\"";
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
