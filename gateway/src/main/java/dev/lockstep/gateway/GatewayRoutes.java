package dev.lockstep.gateway;

import dev.lockstep.combine.CombinerOverloaded;
import dev.lockstep.gateway.Draw.Loss;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stripe's routes: authentication, parameters, injected faults and answers. */
final class GatewayRoutes {
  private static final Logger log = LoggerFactory.getLogger(GatewayRoutes.class);

  private static final int MAX_BODY_BYTES = 64 * 1024;
  private static final int MAX_LENGTH_DIGITS = 9;
  private static final int MAX_KEY_LENGTH = 255;
  private static final String INTENTS = "/v1/payment_intents";
  private static final String REFUNDS = "/v1/refunds";

  private final Vertx vertx;
  private final byte[] authorization;
  private final Bookkeeper bookkeeper;
  private static final CharSequence JSON = HttpHeaders.createOptimized("application/json");
  private static final CharSequence REQUEST_ID = HttpHeaders.createOptimized("Request-Id");

  private final FaultSwitch faults;

  GatewayRoutes(Vertx vertx, String apiKey, Bookkeeper bookkeeper, FaultSwitch faults) {
    this.vertx = vertx;
    this.authorization = ("Bearer " + apiKey).getBytes(StandardCharsets.UTF_8);
    this.bookkeeper = bookkeeper;
    this.faults = faults;
  }

  /** Reads a command from a request's parameters. */
  @FunctionalInterface
  private interface CommandReader {
    Command read(RoutingContext context, Form form);
  }

  Router router() {
    Router router = Router.router(vertx);
    router.route().handler(this::authorize);
    post(router, INTENTS, (c, form) -> Commands.create(form));
    post(router, INTENTS + "/:id/confirm", (c, form) -> Commands.confirm(id(c), form));
    post(router, INTENTS + "/:id/cancel", (c, form) -> Commands.cancel(id(c), form));
    post(router, REFUNDS, (c, form) -> Commands.giveBack(form));
    get(
        router,
        INTENTS + "/search",
        c -> {
          JsonObject metadata = Commands.searched(c.request().getParam("query"));
          return () -> bookkeeper.search(metadata);
        });
    get(router, INTENTS + "/:id", c -> () -> bookkeeper.intent(id(c)));
    get(
        router,
        REFUNDS + "/:id",
        c -> {
          boolean expanded = Page.isExpanded(c.request(), "payment_intent");
          return () -> bookkeeper.refund(id(c), expanded);
        });
    get(
        router,
        INTENTS,
        c -> {
          Page page = Page.of(c.request());
          return () -> bookkeeper.intents(page);
        });
    get(
        router,
        REFUNDS,
        c -> {
          Page page = Page.of(c.request());
          @Nullable String intent = c.request().getParam("payment_intent");
          return () -> bookkeeper.refunds(page, intent);
        });
    router
        .post("/v1/test/payment_intents/:id/authenticate")
        .handler(c -> withBody(c, form -> untroubled(c, form, Commands.authenticate(id(c), form))));
    router
        .post("/v1/test/payment_intents/:id/settle")
        .handler(c -> withBody(c, form -> untroubled(c, form, Commands.settle(id(c), form))));
    router
        .post("/v1/test/refunds/:id/settle")
        .handler(
            c ->
                withBody(
                    c,
                    form ->
                        bookkeeper
                            .settleRefund(id(c), Commands.refundOutcome(form))
                            .onComplete(done -> answer(c, answerOf(done)))));
    router
        .get("/v1/test/faults")
        .handler(c -> answer(c, Answer.ok(FaultsJson.write(faults.get()))));
    router.post("/v1/test/faults").handler(this::setFaults);
    router.delete("/v1/test/faults").handler(this::clearFaults);
    router.route().handler(GatewayRoutes::noRoute);
    router.errorHandler(500, GatewayRoutes::failed);
    return router;
  }

  // ------------------------------------------------------------------ what every request passes

  private void authorize(RoutingContext context) {
    String given = context.request().getHeader(HttpHeaders.AUTHORIZATION);
    if (given != null
        && MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), authorization)) {
      context.next();
    } else {
      answer(context, Answer.of(StripeError.unauthorized()));
    }
  }

  private void post(Router router, String path, CommandReader reader) {
    router
        .post(path)
        .handler(
            context ->
                withBody(
                    context,
                    form -> {
                      Draw draw = Draw.from(faults.get());
                      GatewayRequest ask = ask(context, form, reader.read(context, form), draw);
                      withFaults(context, draw, () -> bookkeeper.submit(ask));
                    }));
  }

  private void get(
      Router router, String path, Function<RoutingContext, Supplier<Future<Answer>>> work) {
    router
        .get(path)
        .handler(
            context ->
                refusing(
                    context,
                    () -> withFaults(context, Draw.forReading(faults.get()), work.apply(context))));
  }

  private void withFaults(RoutingContext context, Draw draw, Supplier<Future<Answer>> work) {
    after(
        draw.faults().latency(),
        () -> {
          if (draw.loss() == Loss.ERROR_BEFORE) {
            answer(context, Answer.of(StripeError.internal()));
          } else {
            work.get().onComplete(done -> lose(context, draw, answerOf(done)));
          }
        });
  }

  private void lose(RoutingContext context, Draw draw, Answer answer) {
    switch (draw.loss()) {
      case TIMEOUT -> {
        Duration lateBy = draw.faults().answers().lateBy();
        if (!lateBy.isZero()) {
          after(lateBy, () -> answer(context, answer));
        }
      }
      case ERROR_AFTER -> answer(context, Answer.of(StripeError.internal()));
      case IDEMPOTENCY_ERROR -> answer(context, Answer.of(StripeError.keyReused()));
      case NONE, ERROR_BEFORE -> answer(context, answer);
    }
  }

  private void after(Duration wait, Runnable action) {
    if (wait.isZero()) {
      action.run();
    } else {
      vertx.setTimer(wait.toMillis(), id -> action.run());
    }
  }

  private static Answer answerOf(AsyncResult<Answer> done) {
    if (done.succeeded()) {
      return done.result();
    }
    Throwable cause = done.cause();
    if (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof CombinerOverloaded) {
      return Answer.of(StripeError.tooMany());
    }
    log.warn("A request failed: {}", cause.toString());
    return Answer.of(StripeError.internal());
  }

  // ------------------------------------------------------------------ test routes

  /** Runs a command of a test, without faults. */
  private void untroubled(RoutingContext context, Form form, Command command) {
    bookkeeper
        .submit(ask(context, form, command, Draw.nothing(faults.get())))
        .onComplete(done -> answer(context, answerOf(done)));
  }

  private void setFaults(RoutingContext context) {
    withText(
        context,
        text -> {
          try {
            faults.set(FaultsJson.read(text));
            answer(context, Answer.ok(FaultsJson.write(faults.get())));
          } catch (IllegalArgumentException e) {
            answer(context, Answer.of(StripeError.invalid(null, String.valueOf(e.getMessage()))));
          }
        });
  }

  private void clearFaults(RoutingContext context) {
    faults.set(GatewayFaults.NONE);
    answer(context, Answer.ok(FaultsJson.write(GatewayFaults.NONE)));
  }

  // ------------------------------------------------------------------ in and out

  private GatewayRequest ask(RoutingContext context, Form form, Command command, Draw draw) {
    HttpServerRequest request = context.request();
    String requestId = requestId(context);
    String key = request.getHeader("Idempotency-Key");
    if (key != null && (key.isEmpty() || key.length() > MAX_KEY_LENGTH)) {
      throw new Refusal(
          StripeError.invalid(
              null, "Idempotency keys have 1 to " + MAX_KEY_LENGTH + " characters."));
    }
    String version = request.getHeader("Stripe-Version");
    return new GatewayRequest(
        command,
        requestId,
        key == null ? requestId : key,
        form.fingerprint(request.path()),
        version == null ? GatewayRequest.NO_VERSION : version,
        GatewayIds.next("evt_"),
        draw.declined(),
        draw.processing(),
        draw.pendingRefund(),
        draw.faults().webhooks().delay());
  }

  private void withBody(RoutingContext context, Consumer<Form> then) {
    withText(context, text -> then.accept(Form.parse(text)));
  }

  private void withText(RoutingContext context, Consumer<String> then) {
    HttpServerRequest request = context.request();
    if (isTooLarge(request)) {
      answer(context, Answer.of(StripeError.invalid(null, "The body is too large.")));
      return;
    }
    request
        .body()
        .map(Buffer::toString)
        .onSuccess(text -> refusing(context, () -> then.accept(text)))
        .onFailure(context::fail);
  }

  /** Stripe's clients send Content-Length; a body without it could be endless. */
  private static boolean isTooLarge(HttpServerRequest request) {
    String length = request.getHeader("Content-Length");
    if (length == null) {
      return request.getHeader("Transfer-Encoding") != null;
    }
    return length.length() > MAX_LENGTH_DIGITS || Long.parseLong(length) > MAX_BODY_BYTES;
  }

  private static void refusing(RoutingContext context, Runnable action) {
    try {
      action.run();
    } catch (Refusal e) {
      answer(context, Answer.of(e.error()));
    } catch (RuntimeException e) {
      context.fail(e);
    }
  }

  private static void answer(RoutingContext context, Answer answer) {
    HttpServerResponse response = context.response();
    if (response.ended() || response.closed()) {
      return;
    }
    if (answer.replayed()) {
      response.putHeader("Idempotent-Replayed", "true");
    }
    response
        .setStatusCode(answer.status())
        .putHeader(HttpHeaders.CONTENT_TYPE, JSON)
        .putHeader(REQUEST_ID, requestId(context))
        .end(answer.body());
  }

  private static void noRoute(RoutingContext context) {
    HttpMethod method = context.request().method();
    answer(context, Answer.of(StripeError.noRoute(method.name(), context.request().path())));
  }

  private static void failed(RoutingContext context) {
    log.error("{} failed", context.request().path(), context.failure());
    answer(context, Answer.of(StripeError.internal()));
  }

  private static String id(RoutingContext context) {
    return context.pathParam("id");
  }

  private static String requestId(RoutingContext context) {
    String id = context.get("request");
    if (id == null) {
      id = GatewayIds.next("req_");
      context.put("request", id);
    }
    return id;
  }
}
