package dev.lockstep.server.api;

import dev.lockstep.server.rate.Allowance;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An error answer according to RFC 9457. Immutable.
 *
 * @param slug last part of the problem's type
 * @param status the HTTP status
 * @param title the same for every occurrence
 * @param detail about this occurrence; never a stack trace
 * @param fields further members, JSON values
 */
public record Problem(
    String slug, int status, String title, String detail, Map<String, Object> fields) {
  private static final String INVALID_SIGNATURE = "invalid-signature";
  public static final String TYPES = "https://lockstep.dev/problems/";
  private static final String RETRY_AFTER_SECONDS = "retryAfterSeconds";
  private static final String RATE_LIMIT_POLICY = "rateLimitPolicy";
  private static final String RATE_LIMIT = "rateLimit";

  /** The twin is being answered right now; most requests take less than this. */
  private static final Duration KEY_IN_USE_FOR = Duration.ofSeconds(1);

  public Problem {
    fields = Map.copyOf(fields);
  }

  public static Problem of(String slug, int status, String title, String detail) {
    return new Problem(slug, status, title, detail, Map.of());
  }

  public static Problem badRequest(String detail) {
    return of("bad-request", 400, "Bad request", detail);
  }

  /** An invalid value; {@code field} is a path such as {@code items[0].quantity}. */
  public static Problem invalid(String field, String why) {
    return of("invalid-request", 400, "Invalid request", field + " " + why + ".")
        .with("field", field);
  }

  public static Problem invalidSignature(String why) {
    return of(INVALID_SIGNATURE, 400, "Invalid signature", why);
  }

  boolean isInvalidSignature() {
    return slug.equals(INVALID_SIGNATURE);
  }

  public static Problem unauthorized(String detail) {
    return of("unauthorized", 401, "Unauthorized", detail);
  }

  public static Problem forbidden(String detail) {
    return of("forbidden", 403, "Forbidden", detail);
  }

  public static Problem notFound(String what) {
    return of("not-found", 404, "Not found", "There is no " + what + ".");
  }

  public static Problem methodNotAllowed(String method) {
    return of("method-not-allowed", 405, "Method not allowed", method + " is not possible here.");
  }

  public static Problem notReady(String why) {
    return of("not-ready", 503, "Not ready", why).retryAfter(Duration.ofSeconds(1));
  }

  public static Problem overloaded(Duration retryAfter) {
    return of("overloaded", 503, "Overloaded", "Too many requests are waiting; nothing was done.")
        .retryAfter(retryAfter);
  }

  /** A limit is used up; the header fields name it. */
  public static Problem rateLimited(Allowance refused, String detail) {
    return of("rate-limited", 429, "Rate limited", detail)
        .with(RATE_LIMIT_POLICY, refused.policyField())
        .with(RATE_LIMIT, refused.field())
        .retryAfter(refused.retryAfter().orElse(Duration.ZERO));
  }

  public static Problem keyReused() {
    return of(
        "idempotency-key-reused",
        422,
        "Idempotency-Key reused",
        "This Idempotency-Key belongs to another request; nothing was done.");
  }

  public static Problem keyInUse() {
    return of(
            "idempotency-key-in-use",
            409,
            "Idempotency-Key in use",
            "A request with this Idempotency-Key is still being answered; repeat it later.")
        .retryAfter(KEY_IN_USE_FOR);
  }

  /** Somebody changed it in between; nothing was done. */
  public static Problem versionMismatch(int currentVersion) {
    return of(
            "version-mismatch",
            412,
            "Version mismatch",
            "Somebody changed it; it is now at version " + currentVersion + ".")
        .with("currentVersion", currentVersion);
  }

  public static Problem internal() {
    return of("internal", 500, "Internal error", "The server failed. Its log has the details.");
  }

  public Problem with(String field, Object value) {
    Map<String, Object> more = new LinkedHashMap<>(fields);
    more.put(field, value);
    return new Problem(slug, status, title, detail, more);
  }

  /** Also sets the header, in whole seconds, never 0. */
  public Problem retryAfter(Duration wait) {
    long seconds = Math.max(1, (wait.toMillis() + 999) / 1000);
    return with(RETRY_AFTER_SECONDS, seconds);
  }

  public JsonObject toJson() {
    JsonObject json =
        new JsonObject()
            .put("type", TYPES + slug)
            .put("title", title)
            .put("status", status)
            .put("detail", detail);
    fields.forEach(json::put);
    return json;
  }

  public Answer toAnswer() {
    Answer answer = Answer.of(status, toJson()).withHeader("Content-Type", Answer.PROBLEM_TYPE);
    answer = header(answer, RETRY_AFTER_SECONDS, "Retry-After");
    answer = header(answer, RATE_LIMIT_POLICY, Allowance.POLICY_HEADER);
    return header(answer, RATE_LIMIT, Allowance.HEADER);
  }

  private Answer header(Answer answer, String field, String name) {
    Object value = fields.get(field);
    return value == null ? answer : answer.withHeader(name, value.toString());
  }

  /** Sends it with the request id that the response already names. */
  public void send(HttpServerResponse response) {
    toAnswer().send(response);
  }

  public ProblemException asException() {
    return new ProblemException(this);
  }
}
