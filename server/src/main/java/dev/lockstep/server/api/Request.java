package dev.lockstep.server.api;

import dev.lockstep.once.Fingerprint;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A request that has passed every check of its endpoint. Used on its event loop. */
public final class Request {
  private static final int MAX_KEY_LENGTH = 255;

  /** Parameters that choose a part of a list, not the list. */
  private static final Set<String> PLACES = Set.of("limit", "after", "afterSeq");

  private static final Pattern PRINTABLE = Pattern.compile("[\\x20-\\x7e]+");

  private final RoutingContext context;
  private final Endpoint endpoint;
  private final Optional<Principal> principal;
  private final Map<String, String> path;
  private final Query query;
  private final Object body;
  private final Buffer bytes;
  private Supplier<Future<Optional<Principal>>> recheck =
      () -> Future.succeededFuture(Optional.empty());

  Request(
      RoutingContext context,
      Endpoint endpoint,
      Optional<Principal> principal,
      Map<String, String> path,
      Query query,
      @Nullable Object body,
      Buffer bytes) {
    this.context = context;
    this.endpoint = endpoint;
    this.principal = principal;
    this.path = path;
    this.query = query;
    this.body = body == null ? new JsonObject() : body;
    this.bytes = bytes;
  }

  /** Sets how to find the caller anew. */
  Request withRecheck(Supplier<Future<Optional<Principal>>> again) {
    recheck = again;
    return this;
  }

  /**
   * Checks again that the caller's key is good, for a request that has waited long: it may have
   * been revoked, or have expired, meanwhile.
   *
   * @return fails with a problem if it is not
   */
  public Future<Void> requireKeyStillGood() {
    return Future.succeededFuture().compose(now -> recheck.get()).mapEmpty();
  }

  /** The caller. Only for endpoints that name roles. */
  public Principal principal() {
    return principal.orElseThrow();
  }

  /** The caller of an endpoint without roles; empty without a key. */
  public Optional<Principal> caller() {
    return principal;
  }

  /** The body, in the endpoint's shape; empty if none was sent. */
  public JsonObject body() {
    return (JsonObject) body;
  }

  /** The objects of a body that is one object or a list. */
  public List<JsonObject> bodies() {
    return body instanceof JsonArray list
        ? list.stream().map(JsonObject.class::cast).toList()
        : List.of(body());
  }

  public String path(String parameter) {
    return Objects.requireNonNull(path.get(parameter));
  }

  public Optional<String> query(String parameter) {
    return query.get(parameter);
  }

  /** A query parameter, checked like a text in a body. */
  public Optional<String> query(String parameter, Shape text) {
    Optional<String> given = query(parameter);
    given.ifPresent(value -> text.check(parameter, value));
    return given;
  }

  /** A query parameter that must be there. */
  public String required(String parameter) {
    return query(parameter)
        .filter(text -> !text.isEmpty())
        .orElseThrow(() -> Problem.invalid(parameter, "is missing").asException());
  }

  /** A query parameter that is a whole number. */
  public Optional<Long> number(String parameter, long min, long max) {
    Optional<String> given = query(parameter);
    given.ifPresent(
        text ->
            Shape.integer(min, max)
                .check(parameter, text.matches("\\d{1,18}") ? Long.valueOf(text) : text));
    return given.map(Long::valueOf);
  }

  public Optional<String> header(String name) {
    return Optional.ofNullable(context.request().getHeader(name));
  }

  /**
   * Whether this is an operator's read, or a larger read than buyers make. Such requests have
   * threads and connections of their own: see {@link Workers#read}.
   */
  public boolean isReport() {
    boolean reads = Set.of(HttpMethod.GET, HttpMethod.HEAD).contains(raw().method());
    return endpoint.isReport()
        || (reads && principal.filter(who -> who.role() == Role.OPERATOR).isPresent());
  }

  public Caller from() {
    return Caller.of(context);
  }

  /** The key in a visitor's cookie, if one of our own pages sent this. */
  public Optional<String> visitorKey() {
    return VisitorCookie.key(context);
  }

  /** Whether the browser says that another site initiated this. */
  public boolean foreign() {
    return VisitorCookie.foreign(context);
  }

  /** For a handler that answers piece by piece. */
  public HttpServerRequest raw() {
    return context.request();
  }

  public Page page() {
    int limit = number("limit", 1, Page.MAX_LIMIT).orElse((long) Page.DEFAULT_LIMIT).intValue();
    return new Page(limit, query("after").map(this::item), list());
  }

  /**
   * The list's path and filters, which its cursors name: a cursor of one campaign's audit, or of
   * one key's events, is refused in another's.
   */
  private String list() {
    String list = endpoint.path();
    for (Map.Entry<String, String> one : path.entrySet()) {
      list = list.replace("{" + one.getKey() + "}", one.getValue());
    }
    String filters =
        query.byName().entrySet().stream()
            .filter(one -> !PLACES.contains(one.getKey()))
            .map(one -> one.getKey() + "=" + one.getValue())
            .collect(Collectors.joining("&"));
    return filters.isEmpty() ? list : list + "?" + filters;
  }

  private String item(String cursor) {
    return PageCursor.decode(list(), cursor).orElseThrow(Page::foreign);
  }

  /**
   * The header {@code Idempotency-Key}, bare or quoted.
   *
   * @throws ProblemException when it is malformed, or required and missing
   */
  public Optional<String> idempotencyKey() {
    List<String> all = context.request().headers().getAll("Idempotency-Key");
    if (all.isEmpty() && endpoint.idempotencyKey() == Endpoint.IdempotencyKey.REQUIRED) {
      throw Problem.of(
              "idempotency-key-missing",
              400,
              "Idempotency-Key missing",
              "This request changes stock or money; send an Idempotency-Key header.")
          .asException();
    }
    if (all.size() > 1) {
      throw invalidKey();
    }
    return all.stream().findFirst().map(Request::unquoted);
  }

  /**
   * Refuses a request made for another version.
   *
   * @param version the current one
   * @throws ProblemException when {@code If-Match} does not name it, or is required and missing
   */
  public void requireMatch(int version) {
    Optional<String> given = header("If-Match");
    if (given.isEmpty() && endpoint.ifMatch() == Endpoint.IfMatch.REQUIRED) {
      throw Problem.of(
              "precondition-required",
              428,
              "Precondition required",
              "Send If-Match with the ETag that you saw, so that nobody's change is lost.")
          .asException();
    }
    boolean matches =
        given.isEmpty()
            || Arrays.stream(given.get().split(",", -1))
                .map(String::strip)
                .anyMatch(
                    tag ->
                        tag.equals("*")
                            || tag.equals("\"" + version + "\"")
                            || tag.equals(Integer.toString(version)));
    if (!matches) {
      throw Problem.versionMismatch(version).asException();
    }
  }

  /**
   * The content of the request, independent of how its JSON is written. A repetition must agree
   * with it.
   */
  public String canonicalBody() {
    return String.valueOf(canonical(body));
  }

  /** Covers everything that a repetition under the same key must agree with. */
  public Fingerprint fingerprint() {
    return Fingerprint.of(raw().method().name(), raw().path(), canonicalBody());
  }

  /** The body as it arrived, byte for byte, for endpoints that take it unparsed. */
  public byte[] rawBody() {
    return bytes.getBytes();
  }

  private static String unquoted(String given) {
    boolean begins = given.startsWith("\"");
    boolean quoted = given.length() >= 2 && begins && given.endsWith("\"");
    String key = quoted ? given.substring(1, given.length() - 1) : given;
    if (begins != quoted
        || key.isBlank()
        || key.length() > MAX_KEY_LENGTH
        || !PRINTABLE.matcher(key).matches()) {
      throw invalidKey();
    }
    return key;
  }

  private static ProblemException invalidKey() {
    return Problem.of(
            "idempotency-key-invalid",
            400,
            "Idempotency-Key invalid",
            "Send one Idempotency-Key, of 1 to " + MAX_KEY_LENGTH + " printable ASCII characters.")
        .asException();
  }

  private static @Nullable Object canonical(@Nullable Object value) {
    if (value instanceof JsonObject object) {
      Map<String, @Nullable Object> sorted = new TreeMap<>();
      object.forEach(member -> sorted.put(member.getKey(), canonical(member.getValue())));
      return new JsonObject(sorted);
    }
    if (value instanceof JsonArray array) {
      JsonArray copy = new JsonArray();
      array.forEach(item -> copy.add(canonical(item)));
      return copy;
    }
    return value;
  }
}
