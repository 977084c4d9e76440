package dev.lockstep.server.api;

import io.vertx.core.Future;
import io.vertx.core.http.HttpMethod;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * One operation of the API, from which the router and the OpenAPI document are made. Immutable;
 * start with {@link #of} and add what applies.
 */
public final class Endpoint {
  private final HttpMethod method;
  private final String path;
  private final String summary;
  private final Map<Integer, Shape> answers = new TreeMap<>();
  private final SortedMap<String, String> query = new TreeMap<>();
  private Set<Role> roles = Set.of();
  private Optional<Shape> body = Optional.empty();
  private boolean bodyOptional = true;
  private boolean unread;
  private Optional<String> signature = Optional.empty();
  private boolean many;
  private boolean largeBody;
  private IdempotencyKey idempotencyKey = IdempotencyKey.UNUSED;
  private IfMatch ifMatch = IfMatch.UNUSED;
  private boolean tagged;
  private boolean report;
  private String mediaType = "application/json";
  private Handler handler = request -> Future.failedFuture(Problem.internal().asException());

  /** How an operation treats the header {@code Idempotency-Key}. */
  public enum IdempotencyKey {
    UNUSED,
    OPTIONAL,
    REQUIRED
  }

  /**
   * How an operation treats the header {@code If-Match}, which carries the version the client saw.
   */
  public enum IfMatch {
    UNUSED,
    OPTIONAL,
    REQUIRED
  }

  /**
   * Runs on an event loop. Blocking work goes through {@link Workers} or another asynchronous call.
   */
  @FunctionalInterface
  public interface Handler {
    Future<Answer> handle(Request request);
  }

  private Endpoint(HttpMethod method, String path, String summary) {
    this.method = method;
    this.path = path;
    this.summary = summary;
  }

  /**
   * An operation that anyone may call, without key or body.
   *
   * @param path with parameters in braces, {@code /v1/holds/{id}}
   */
  public static Endpoint of(HttpMethod method, String path, String summary) {
    return new Endpoint(method, path, summary);
  }

  /** Requires a key of one of these roles. */
  public Endpoint by(Role... some) {
    return with(copy -> copy.roles = Set.of(some));
  }

  public Endpoint taking(Shape shape) {
    return with(
        copy -> {
          copy.body = Optional.of(shape);
          copy.bodyOptional = false;
        });
  }

  /** Takes an optional body. */
  public Endpoint perhapsTaking(Shape shape) {
    return with(copy -> copy.body = Optional.of(shape));
  }

  /** Takes one object, or a list of at most {@code max}. */
  public Endpoint takingOneOrMany(Shape item, int max) {
    return taking(Shape.oneOrMany(item, max)).with(copy -> copy.many = true);
  }

  /** Raises the body limit for operations that take many things: see {@link BodyLimits}. */
  public Endpoint withLargeBody() {
    return with(copy -> copy.largeBody = true);
  }

  /**
   * Passes the raw body to the handler, because the signature covers its bytes. The handler first
   * checks it and throws {@link Problem#invalidSignature} if it is wrong.
   *
   * @param header carries the signature
   */
  public Endpoint takingSigned(Shape shape, String header) {
    return with(
        copy -> {
          copy.body = Optional.of(shape);
          copy.unread = true;
          copy.signature = Optional.of(header);
        });
  }

  public Endpoint withIdempotencyKey(IdempotencyKey use) {
    return with(copy -> copy.idempotencyKey = use);
  }

  public Endpoint withIfMatch(IfMatch use) {
    return with(copy -> copy.ifMatch = use);
  }

  /** Adds an ETag of the content; a client that names it in {@code If-None-Match} gets 304. */
  public Endpoint tagged() {
    return with(copy -> copy.tagged = true);
  }

  /**
   * Treats it as a report for every caller. Operator-only reads are reports without being declared.
   */
  public Endpoint asReport() {
    return with(copy -> copy.report = true);
  }

  public Endpoint withQuery(String name, String meaning) {
    return with(copy -> copy.query.put(name, meaning));
  }

  /** A list paged by {@code limit} and {@code after}. */
  public Endpoint paged(Shape item) {
    return withQuery("limit", "Items on a page, 1 to " + Page.MAX_LIMIT + "; default 100.")
        .withQuery("after", "Where to continue: the 'next' of the previous page.")
        .answering(200, Page.shape(item));
  }

  /** The shape of a successful answer. */
  public Endpoint answering(int status, Shape shape) {
    return with(copy -> copy.answers.put(status, shape));
  }

  /** Answers with something other than JSON. */
  public Endpoint answeringAs(String type) {
    return with(copy -> copy.mediaType = type);
  }

  public Endpoint handledBy(Handler how) {
    return with(copy -> copy.handler = how);
  }

  public HttpMethod method() {
    return method;
  }

  public String path() {
    return path;
  }

  public String summary() {
    return summary;
  }

  /** The roles that may call; empty means anyone, without a key. */
  public Set<Role> roles() {
    return roles;
  }

  public Optional<Shape> body() {
    return body;
  }

  public boolean bodyOptional() {
    return bodyOptional;
  }

  boolean unread() {
    return unread;
  }

  boolean takesMany() {
    return many;
  }

  boolean takesLargeBody() {
    return largeBody;
  }

  public IdempotencyKey idempotencyKey() {
    return idempotencyKey;
  }

  public IfMatch ifMatch() {
    return ifMatch;
  }

  /** Whether answers carry an ETag for {@code If-None-Match}. */
  public boolean isTagged() {
    return tagged;
  }

  /** Whether it runs as an operators' report: see {@link Request#isReport}. */
  boolean isReport() {
    return report || (method.equals(HttpMethod.GET) && roles.equals(Set.of(Role.OPERATOR)));
  }

  /** Query parameters and their descriptions. */
  public Map<String, String> query() {
    return Map.copyOf(query);
  }

  /** Answer shapes by status. */
  public Map<Integer, Shape> answers() {
    return Map.copyOf(answers);
  }

  public String mediaType() {
    return mediaType;
  }

  /** The names in braces, in order. */
  public List<String> pathParameters() {
    List<String> names = new ArrayList<>();
    for (String part : path.split("/", -1)) {
      if (part.startsWith("{")) {
        names.add(part.substring(1, part.length() - 1));
      }
    }
    return names;
  }

  @Override
  public String toString() {
    return method + " " + path;
  }

  Optional<String> signature() {
    return signature;
  }

  String route() {
    return path.replace("{", ":").replace("}", "");
  }

  Future<Answer> handle(Request request) {
    return handler.handle(request);
  }

  private Endpoint with(Consumer<Endpoint> change) {
    Endpoint copy = new Endpoint(method, path, summary);
    copy.answers.putAll(answers);
    copy.query.putAll(query);
    copy.roles = roles;
    copy.body = body;
    copy.bodyOptional = bodyOptional;
    copy.unread = unread;
    copy.signature = signature;
    copy.many = many;
    copy.largeBody = largeBody;
    copy.idempotencyKey = idempotencyKey;
    copy.ifMatch = ifMatch;
    copy.tagged = tagged;
    copy.report = report;
    copy.mediaType = mediaType;
    copy.handler = handler;
    change.accept(copy);
    return copy;
  }
}
