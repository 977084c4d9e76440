package dev.lockstep.server.api;

import dev.lockstep.once.Claim;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceKey;
import dev.lockstep.once.OnceResult;
import dev.lockstep.server.cases.Cases;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxWork;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Stores an answer with its idempotency key, and reads it back. */
public final class StoredAnswer {
  private static final Cases<Claim, Function<Function<String, Answer>, Answer>> EARLIER =
      Cases.<Claim, Function<Function<String, Answer>, Answer>>over(Claim.class)
          .when(Claim.Answered.class, before -> parse -> parse.apply(before.answer()))
          .when(Claim.InUse.class, inUse -> parse -> Problem.keyInUse().toAnswer())
          .when(Claim.Reused.class, reused -> parse -> Problem.keyReused().toAnswer())
          // A key that is free has no answer.
          .never(Claim.Fresh.class)
          .complete();

  private static final Cases<OnceResult, Answer> OF_CALL =
      Cases.<OnceResult, Answer>over(OnceResult.class)
          .when(
              OnceResult.Completed.class,
              done -> done.replayed() ? replayed(done.answer()) : parsed(done.answer()))
          .when(Claim.InUse.class, inUse -> Problem.keyInUse().toAnswer())
          .when(Claim.Reused.class, reused -> Problem.keyReused().toAnswer())
          .complete();

  private StoredAnswer() {}

  /**
   * Runs work in a transaction. If the request has an idempotency key, its answer is stored under
   * it, and a repetition gets the stored one. Blocks.
   *
   * @param scope of the key
   */
  public static Answer call(
      Transactor transactor, Once once, long scope, Request request, TxWork<Answer> work) {
    return request.idempotencyKey().isEmpty()
        ? transactor.call(work)
        : call(once, scope, request, work);
  }

  /** Runs work under the request's idempotency key, which it must have. Blocks. */
  public static Answer call(Once once, long scope, Request request, TxWork<Answer> work) {
    OnceKey key =
        new OnceKey(scope, request.principal().name(), request.idempotencyKey().orElseThrow());
    return of(once.call(key, request.fingerprint(), c -> text(work.run(c))));
  }

  /** The answer of a call under a key, fresh or stored. */
  public static Answer of(OnceResult result) {
    return OF_CALL.of(result);
  }

  /**
   * The answer to a request whose key was used before.
   *
   * @param parse makes an answer of the text in the key's row
   */
  static Answer of(Claim claim, Function<String, Answer> parse) {
    return EARLIER.of(claim).apply(parse);
  }

  public static String text(Answer answer) {
    JsonObject headers = new JsonObject();
    answer.headers().forEach(headers::put);
    return new JsonObject()
        .put("status", answer.status())
        .put("headers", headers)
        .put("body", answer.body())
        .encode();
  }

  public static Answer replayed(String text) {
    return replayed(parsed(text));
  }

  public static Answer parsed(String text) {
    JsonObject stored = new JsonObject(text);
    Map<String, String> headers =
        stored.getJsonObject("headers").stream()
            .collect(Collectors.toMap(Map.Entry::getKey, entry -> entry.getValue().toString()));
    return new Answer(stored.getInteger("status"), stored.getJsonObject("body"), headers);
  }

  public static Answer replayed(Answer answer) {
    return answer.withHeader("Idempotency-Replayed", "true");
  }
}
