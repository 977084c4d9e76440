package dev.lockstep.server.key;

import static io.vertx.core.http.HttpMethod.DELETE;
import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.once.Once;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Authenticator;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Endpoint.IdempotencyKey;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Page;
import dev.lockstep.server.api.Principal;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.api.StoredAnswer;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.key.KeyRow.Revoked;
import dev.lockstep.server.key.KeyTable.Live;
import dev.lockstep.server.key.KeyTable.NewKey;
import dev.lockstep.server.key.KeyTable.SortKey;
import dev.lockstep.server.rate.Allowance;
import dev.lockstep.server.rate.RateLimits;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxWork;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.LongSupplier;

/**
 * Makes, shows and revokes the keys of operators, services and buyers, and authenticates requests
 * by them. Thread-safe.
 */
public final class Keys implements Authenticator {
  /** Leaves room for the role in front, within the name length of holds and idempotency keys. */
  public static final int MAX_BUYER_LENGTH = 128;

  /** How long a shop remembers a visitor. */
  public static final Duration VISITOR_AGE = Duration.ofDays(30);

  private static final int MAX_KEY_LENGTH = 512;

  /** Who makes visitors' keys. No caller has this name. */
  static final String SHOP = "shop";

  private static final SecureRandom RANDOM = new SecureRandom();

  /** The operator key from the configuration. It is compared, never stored. */
  private static final Principal CONFIGURED =
      new Principal(Role.OPERATOR, "configured", Optional.empty());

  private static final Shape ROLE =
      Shape.choice(Arrays.stream(Role.values()).map(Role::label).toArray(String[]::new));

  private static final ObjectShape NEW_KEY =
      Shape.object()
          .required("role", ROLE)
          .required("name", Shape.text(1, 200))
          .optional("buyer", Shape.nullable(Shape.text(1, MAX_BUYER_LENGTH)))
          .optional("expiresAt", Shape.nullable(Shape.time()));

  private static final ObjectShape KEY =
      Shape.object()
          .required("id", Shape.text(1, 64))
          .required("prefix", Shape.text(1, 16))
          .required("role", ROLE)
          .required("name", Shape.text(1, 200))
          .required("buyer", Shape.nullable(Shape.text(1, MAX_BUYER_LENGTH)))
          .required("createdAt", Shape.time())
          .required("createdBy", Shape.text(1, 200))
          .required("expiresAt", Shape.nullable(Shape.time()))
          .required("revokedAt", Shape.nullable(Shape.time()))
          .required("revokedBy", Shape.nullable(Shape.text(1, 200)))
          .required("revokeReason", Shape.nullable(Shape.text(1, 500)));

  private static final ObjectShape REASON =
      Shape.object().optional("reason", Shape.nullable(Shape.text(1, 500)));

  /** The scope of these idempotency keys: a key belongs to no campaign. */
  private static final long ONCE_SCOPE = -4;

  private static final String NOT_AGAIN =
      "The first answer showed the key; it is not kept. If you lost it, revoke this key"
          + " and make another with a new Idempotency-Key.";

  private final Transactor transactor;
  private final Once once;
  private final KeyTable table;
  private final KeyCache cache;
  private final CallerRates rates;
  private final Workers workers;
  private final Optional<byte[]> configuredHash;

  /**
   * @param configured the operator key from the configuration
   * @param rates how often each kind of caller may ask
   * @param nanoTime the clock of rates and cache
   */
  public Keys(
      Transactor transactor,
      Once once,
      Workers workers,
      Optional<Secret> configured,
      RateLimits rates,
      LongSupplier nanoTime) {
    this.transactor = transactor;
    this.once = once;
    this.table = new KeyTable(transactor);
    this.workers = workers;
    this.configuredHash = configured.map(Secret::hash);
    this.cache = new KeyCache(nanoTime);
    this.rates = new CallerRates(rates, nanoTime);
  }

  /**
   * Ensures that there is an operator key. Blocks.
   *
   * @return a new key, to be shown once; empty if one is configured or exists
   */
  public Optional<Secret> ensureOperator() {
    if (configuredHash.isPresent()) {
      return Optional.empty();
    }
    Secret secret = Secret.random();
    NewKey first =
        new NewKey(
            Role.OPERATOR, "First operator key", Optional.empty(), Optional.empty(), "first start");
    return table.insertFirst(newId(), secret, first) ? Optional.of(secret) : Optional.empty();
  }

  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.of(
                POST,
                "/v1/keys",
                "Makes a key and shows it once. A repetition with the same Idempotency-Key gets"
                    + " the same facts, and null instead of the key, which is not kept.")
            .by(Role.OPERATOR)
            .withIdempotencyKey(IdempotencyKey.OPTIONAL)
            .taking(NEW_KEY)
            .answering(
                201,
                KEY.required("key", Shape.nullable(Shape.text(1, MAX_KEY_LENGTH)))
                    .required("notice", Shape.nullable(Shape.text(1, 500))))
            .handledBy(this::create),
        Endpoint.of(GET, "/v1/keys", "Lists keys, oldest first.")
            .by(Role.OPERATOR)
            .withQuery("role", "Only keys of this role.")
            .paged(KEY)
            .handledBy(this::list),
        Endpoint.of(GET, "/v1/keys/{id}", "Shows a key's facts, not its secret.")
            .by(Role.OPERATOR)
            .tagged()
            .answering(200, KEY)
            .handledBy(this::show),
        Endpoint.of(DELETE, "/v1/keys/{id}", "Revokes a key permanently.")
            .by(Role.OPERATOR)
            .perhapsTaking(REASON)
            .answering(200, KEY)
            .handledBy(this::revoke));
  }

  @Override
  public Future<Optional<Principal>> authenticate(String key, String network) {
    if (key.isEmpty() || key.length() > MAX_KEY_LENGTH) {
      return unknown(network);
    }
    byte[] hash = Secret.of(key).hash();
    if (configuredHash.isPresent() && MessageDigest.isEqual(hash, configuredHash.get())) {
      return Future.succeededFuture(Optional.of(CONFIGURED));
    }
    Optional<Principal> known = cache.find(hash);
    if (known.isPresent()) {
      return Future.succeededFuture(known);
    }
    if (cache.isUnknown(hash)) {
      return unknown(network);
    }
    // Others at the same address do not delay the holder of a good key.
    return cache.wasGood(hash)
        ? lookUp(hash)
            .map(
                found -> {
                  if (found.isEmpty()) {
                    rates.wasUnknown(network);
                  }
                  return found;
                })
        : rates.lookUp(network, () -> lookUp(hash));
  }

  private Future<Optional<Principal>> unknown(String network) {
    rates.requireFewUnknown(network);
    return Future.succeededFuture(Optional.empty());
  }

  private Future<Optional<Principal>> lookUp(byte[] hash) {
    long revocations = cache.revocations();
    return workers
        .run(() -> table.findLive(hash))
        .map(
            live -> {
              if (live.isPresent()) {
                cache.keep(hash, live.get(), revocations);
              } else {
                cache.keepUnknown(hash);
              }
              return live.map(Live::principal);
            });
  }

  @Override
  public Optional<Allowance> admit(Optional<Principal> principal, String network) {
    return rates.admit(principal, network);
  }

  /**
   * Makes a visitor of the shop a buyer with a key for {@link #VISITOR_AGE}.
   *
   * @param network where the visitor comes from; fails with a problem when too many come from there
   */
  public Future<Visitor> newVisitor(String network) {
    rates.requireFewVisitors(network);
    byte[] name = new byte[8];
    RANDOM.nextBytes(name);
    String buyer = "visitor-" + HexFormat.of().formatHex(name);
    Secret secret = Secret.random();
    NewKey key =
        new NewKey(
            Role.BUYER,
            "Visitor of the shop",
            Optional.of(buyer),
            Optional.of(Instant.now().plus(VISITOR_AGE)),
            SHOP);
    return workers
        .run(() -> table.insert(newId(), secret, key))
        .map(row -> new Visitor(buyer, secret));
  }

  /** A new buyer and the key that proves it. */
  public record Visitor(String buyer, Secret key) {}

  /** Revokes a key permanently. */
  public Future<Void> revoke(Principal owner) {
    return workers
        .run(() -> table.revoke(owner.keyId(), owner.name(), null))
        .map(
            row -> {
              cache.forget(owner.keyId());
              return null;
            });
  }

  /** Removes up to a thousand expired visitors. Blocks. */
  public int removeOldVisitors() {
    return table.removeOlderThan(VISITOR_AGE, SHOP);
  }

  /**
   * Only the first answer shows the key, and the stored answer omits it. To replace a lost key,
   * revoke it and make another.
   */
  private Future<Answer> create(Request request) {
    NewKey key = newKey(request);
    Secret secret = Secret.random();
    String id = newId();
    TxWork<Answer> work = connection -> made(KeyTable.insert(connection, id, secret, key));
    return workers
        .run(() -> StoredAnswer.call(transactor, once, ONCE_SCOPE, request, work))
        .map(answer -> answer.status() == 201 ? shownOnce(answer, id, secret) : answer);
  }

  private static Answer made(KeyRow row) {
    return Answer.created("/v1/keys/" + row.id(), json(row));
  }

  /**
   * @param id of the key that this request would make; a repeated answer has another one
   */
  private static Answer shownOnce(Answer made, String id, Secret secret) {
    JsonObject body = made.body().copy();
    boolean first = id.equals(body.getString("id"));
    body.put("key", first ? secret.reveal() : null).put("notice", first ? null : NOT_AGAIN);
    return new Answer(made.status(), body, made.headers());
  }

  private static NewKey newKey(Request request) {
    JsonObject body = request.body();
    Role role = Role.of(body.getString("role"));
    Optional<String> buyer = Optional.ofNullable(body.getString("buyer"));
    if (role == Role.BUYER && buyer.isEmpty()) {
      throw Problem.invalid("buyer", "is missing: a key of role buyer must name its buyer")
          .asException();
    }
    if (role != Role.BUYER && buyer.isPresent()) {
      throw Problem.invalid("buyer", "is only for keys of role buyer").asException();
    }
    Optional<Instant> expiresAt =
        Optional.ofNullable(body.getString("expiresAt"))
            // The database would round it, perhaps into the year 10000.
            .map(text -> OffsetDateTime.parse(text).toInstant().truncatedTo(ChronoUnit.MICROS));
    return new NewKey(role, body.getString("name"), buyer, expiresAt, request.principal().name());
  }

  private Future<Answer> list(Request request) {
    Page page = request.page();
    SortKey after = page.after(SortKey::parse).orElse(SortKey.FIRST);
    Role role = request.query("role", ROLE).map(Role::of).orElse(null);
    return workers.read(
        request,
        () ->
            Answer.ok(
                page.of(
                    table.page(after, role, page.limit() + 1),
                    Keys::json,
                    row -> SortKey.of(row).toString())));
  }

  private Future<Answer> show(Request request) {
    String id = request.path("id");
    return workers.read(request, () -> answer(table.find(id)));
  }

  private Future<Answer> revoke(Request request) {
    String id = request.path("id");
    String by = request.principal().name();
    String reason = request.body().getString("reason");
    return workers
        .run(() -> table.revoke(id, by, reason))
        .map(
            row -> {
              cache.forget(id);
              return answer(row);
            });
  }

  private static Answer answer(Optional<KeyRow> row) {
    return Answer.ok(json(row.orElseThrow(() -> Problem.notFound("such key").asException())));
  }

  private static JsonObject json(KeyRow row) {
    return new JsonObject()
        .put("id", row.id())
        .put("prefix", row.prefix())
        .put("role", row.role().label())
        .put("name", row.name())
        .put("buyer", row.buyer().orElse(null))
        .put("createdAt", row.createdAt().toString())
        .put("createdBy", row.createdBy())
        .put("expiresAt", row.expiresAt().map(Instant::toString).orElse(null))
        .put("revokedAt", row.revoked().map(end -> end.at().toString()).orElse(null))
        .put("revokedBy", row.revoked().map(Revoked::by).orElse(null))
        .put("revokeReason", row.revoked().flatMap(Revoked::reason).orElse(null));
  }

  private static String newId() {
    return "key_" + UUID.randomUUID().toString().replace("-", "");
  }
}
