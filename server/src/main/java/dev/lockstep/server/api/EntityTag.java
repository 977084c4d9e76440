package dev.lockstep.server.api;

import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;

/**
 * The ETag of an answer, made from all that it says, so that nothing can change without it; and the
 * answer 304 to a client that has it already.
 *
 * <p>Jobs and schedules carry their version instead, for {@code If-Match}. That does not change
 * when they run, so it can not say that nothing changed, and {@code If-None-Match} is not looked at
 * there.
 */
final class EntityTag {
  private static final int BYTES = 16;

  private EntityTag() {}

  static Answer of(Endpoint endpoint, Answer answer, HttpServerRequest request) {
    if (!endpoint.isTagged() || answer.status() != 200) {
      return answer;
    }
    String tag = of(answer.body());
    boolean known =
        request.headers().getAll(HttpHeaders.IF_NONE_MATCH).stream()
            .flatMap(header -> Arrays.stream(header.split(",", -1)))
            .map(String::strip)
            .anyMatch(one -> one.equals("*") || weak(one).equals(tag));
    return (known ? Answer.notModified() : answer).withHeader("ETag", tag);
  }

  /** Two tags are compared as they are, weak or not. */
  private static String weak(String tag) {
    return tag.startsWith("W/") ? tag.substring(2) : tag;
  }

  private static String of(JsonObject body) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256")
              .digest(body.encode().getBytes(StandardCharsets.UTF_8));
      String text =
          Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(hash, BYTES));
      return "\"" + text + "\"";
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java platform has SHA-256", e);
    }
  }
}
