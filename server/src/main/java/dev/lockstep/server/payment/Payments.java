package dev.lockstep.server.payment;

import com.stripe.StripeClient;
import com.stripe.exception.StripeException;
import com.stripe.model.PaymentIntent;
import com.stripe.net.ApiMode;
import com.stripe.net.HttpClient;
import com.stripe.net.RequestOptions;
import com.stripe.net.StripeRequest;
import com.stripe.net.StripeResponse;
import com.stripe.param.PaymentIntentConfirmParams;
import com.stripe.param.PaymentIntentCreateParams;
import com.stripe.param.PaymentIntentCreateParams.AutomaticPaymentMethods;
import dev.lockstep.server.cases.Cases;
import dev.lockstep.server.payment.PaymentListener.Operation;
import dev.lockstep.server.payment.PaymentResult.Open;
import dev.lockstep.server.payment.PaymentResult.Rejected;
import dev.lockstep.server.payment.PaymentResult.RequiresAction;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

/**
 * Pays, looks up, cancels and refunds through {@code stripe-java}.
 *
 * <p><b>Promises.</b> Outcomes are values. Without an answer the outcome is {@link
 * PaymentResult.Unknown}, never a guess. Every change carries an idempotency key, so a repetition
 * within the provider's 24 hours has no further effect.
 *
 * <p>Nothing here takes part in a transaction: hold no lock while you wait for a stage.
 *
 * <p>Thread-safe. A payment that simply succeeds blocks no thread. stripe-java blocks, so
 * everything else runs on bounded, named threads of its own. Stages complete on those or on an
 * event loop. {@link #close} lets running calls finish, in bounded time.
 */
public final class Payments implements AutoCloseable {
  private static final int HTTP_OK = 200;

  /** A payment that its buyer could still make. */
  private static final Cases<PaymentResult, Optional<IntentId>> PAYABLE =
      Cases.<PaymentResult, Optional<IntentId>>over(PaymentResult.class)
          .when(Open.class, open -> Optional.of(open.intent()))
          .when(RequiresAction.class, waiting -> Optional.of(waiting.intent()))
          .when(PaymentResult.Declined.class, PaymentResult.Declined::intent)
          .when(PaymentResult.Succeeded.class, succeeded -> Optional.empty())
          .when(PaymentResult.Canceled.class, canceled -> Optional.empty())
          .when(Rejected.class, rejected -> Optional.empty())
          .when(PaymentResult.Unknown.class, unknown -> Optional.empty())
          .complete();

  private final PaymentsConfig config;
  private final StripeTransport transport;
  private final StripeClient client;
  private final StripeClient encoder;
  private final IntentSearch search;
  private final RefundCalls refunds;
  private final PaymentSlots slots;
  private final PaymentListener listener;
  private final CompletionStage<Boolean> warm;

  private Payments(Vertx vertx, PaymentsConfig config, PaymentListener listener) {
    this.config = config;
    this.listener = listener;
    slots = new PaymentSlots(config);
    transport = new StripeTransport(vertx, config);
    client = client(config, transport);
    encoder = client(config, new FirstExchange.Encoder());
    search = new IntentSearch(client);
    refunds = new RefundCalls(client);
    warm = slots.onThread(this::warmUp);
  }

  private static StripeClient client(PaymentsConfig config, HttpClient http) {
    return StripeClient.builder()
        .setApiKey(config.apiKey())
        .setApiBase(config.apiBase().toString())
        .setMaxNetworkRetries(config.retries())
        .setConnectTimeout(Math.toIntExact(config.connectTimeout().toMillis()))
        .setReadTimeout(Math.toIntExact(config.answerTimeout().toMillis()))
        .setHttpClient(http)
        .build();
  }

  /** Uses the caller's Vert.x instance for requests. */
  public static Payments open(Vertx vertx, PaymentsConfig config) {
    return open(vertx, config, PaymentListener.NONE);
  }

  /** Uses the caller's Vert.x instance for requests, and reports every call to the listener. */
  public static Payments open(Vertx vertx, PaymentsConfig config, PaymentListener listener) {
    return new Payments(vertx, config, listener);
  }

  /**
   * Makes a payment, or tries an earlier one again with another method, or returns the result of
   * the earlier request under this key.
   */
  public CompletionStage<PaymentResult> pay(PaymentRequest request) {
    return call(Operation.PAY, () -> begin(request));
  }

  /**
   * Ensures that a payment with an unknown outcome no longer happens, or reports that it did:
   * {@code Canceled} and {@code Rejected} mean that no money moved or will move; {@code Succeeded}
   * that it was too late. For holds that run out.
   *
   * <p>It uses up the payment's key for an intent that is never paid, so a request still on its way
   * is refused. If the key is already used up, the payment had arrived; it is looked up and, if
   * possible, canceled.
   */
  public CompletionStage<PaymentResult> abandon(PaymentRequest request) {
    return call(Operation.ABANDON, () -> slots.onThread(() -> abandonNow(request)));
  }

  /** Looks up a payment. */
  public CompletionStage<PaymentResult> find(IntentId intent) {
    return call(
        Operation.FIND,
        () ->
            slots.onThread(
                () ->
                    payment(
                        () ->
                            StripeOutcomes.of(
                                client.v1().paymentIntents().retrieve(intent.value())))));
  }

  /**
   * Cancels a payment unless it is too late; the result is its current state. Only {@code Canceled}
   * means that no money will move. A payment that is being processed cannot be canceled now, but
   * maybe later: each call asks anew.
   */
  public CompletionStage<PaymentResult> cancel(IntentId intent) {
    return call(Operation.CANCEL, () -> slots.onThread(() -> cancelNow(intent)));
  }

  /**
   * Refunds a part of a payment or all that is left, or reports the state of an earlier request.
   */
  public CompletionStage<RefundResult> refund(RefundRequest request) {
    return call(
        Operation.REFUND,
        () -> slots.onThread(() -> refunds.refund(request)),
        () -> new RefundResult.Unknown("too many payments are in progress"));
  }

  /** The provider's own lists; do not use it after this is closed. */
  public PaymentHistory history() {
    return new PaymentHistory(client);
  }

  @Override
  public void close() {
    slots.close();
    transport.close();
  }

  /**
   * Loads Stripe's model, over a thousand classes, once before the first payment. Otherwise the
   * first five hundred payments would all do so at once.
   */
  private boolean warmUp() {
    try {
      PaymentIntentCreateParams.builder().setAmount(1L).setCurrency("usd").build().toMap();
      client.deserialize("{\"object\":\"payment_intent\"}", ApiMode.V1);
      return true;
    } catch (StripeException e) {
      throw new IllegalStateException("stripe-java cannot read an intent", e);
    }
  }

  /**
   * Sends a payment. Mostly it simply succeeds; stripe-java interprets every other answer and
   * retries if that helps.
   */
  private CompletionStage<PaymentResult> begin(PaymentRequest request) {
    StripeRequest encoded;
    try {
      createConfirmed(encoder, request);
      throw new IllegalStateException("an encoder has sent a payment");
    } catch (FirstExchange.Encoded e) {
      encoded = e.request();
    } catch (StripeException e) {
      return CompletableFuture.completedStage(StripeOutcomes.of(e));
    }
    Future<StripeResponse> sent = transport.send(encoded);
    return sent.toCompletionStage()
        .handle(
            (response, thrown) -> {
              Optional<PaymentResult> result =
                  thrown == null ? plainly(response) : Optional.empty();
              return result.isPresent()
                  ? CompletableFuture.completedStage(result.get())
                  : slots.onThread(() -> payFurther(request, sent));
            })
        .thenCompose(result -> result);
  }

  /** The result of an answer that needs no closer look. */
  private static Optional<PaymentResult> plainly(StripeResponse response) {
    if (response.code() != HTTP_OK) {
      return Optional.empty();
    }
    try {
      return Optional.of(StripeOutcomes.of(new JsonObject(response.body())));
    } catch (DecodeException | ClassCastException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private PaymentResult payFurther(PaymentRequest request, Future<StripeResponse> sent) {
    return payNow(client(config, new FirstExchange.Resumed(sent, transport)), request);
  }

  private PaymentResult payNow(StripeClient through, PaymentRequest request) {
    try {
      return StripeOutcomes.of(createConfirmed(through, request));
    } catch (StripeException e) {
      // The key does not reveal the payment made under it; its metadata does.
      Optional<PaymentIntent> made =
          StripeOutcomes.isKeyOfAnother(e) ? search.find(request.metadata()) : Optional.empty();
      return made.map(StripeOutcomes::of).orElseGet(() -> StripeOutcomes.of(e));
    }
  }

  private static PaymentIntent createConfirmed(StripeClient through, PaymentRequest request)
      throws StripeException {
    if (request.intent().isPresent()) {
      PaymentIntentConfirmParams again =
          PaymentIntentConfirmParams.builder().setPaymentMethod(request.paymentMethod()).build();
      String intent = request.intent().get().value();
      return through.v1().paymentIntents().confirm(intent, again, options(request.key()));
    }
    PaymentIntentCreateParams params =
        params(request).setConfirm(true).setPaymentMethod(request.paymentMethod()).build();
    return through.v1().paymentIntents().create(params, options(request.key()));
  }

  private PaymentResult abandonNow(PaymentRequest request) {
    PaymentResult result;
    try {
      result =
          StripeOutcomes.of(
              client.v1().paymentIntents().create(params(request).build(), options(request.key())));
    } catch (StripeException e) {
      result = StripeOutcomes.isKeyOfAnother(e) ? payNow(client, request) : StripeOutcomes.of(e);
    }
    Optional<IntentId> payable = PAYABLE.of(result);
    return payable.isPresent() ? cancelNow(payable.get()) : result;
  }

  private PaymentResult cancelNow(IntentId intent) {
    // A new key each time: the provider remembers its answer for a day, even "not now". Canceling
    // twice is harmless.
    PaymentKey key = new PaymentKey("cancel-" + intent.value() + "-" + UUID.randomUUID());
    return payment(
        () -> StripeOutcomes.of(client.v1().paymentIntents().cancel(intent.value(), options(key))));
  }

  private static PaymentIntentCreateParams.Builder params(PaymentRequest request) {
    return PaymentIntentCreateParams.builder()
        .setAmount(request.amount().amount())
        .setCurrency(request.amount().currency().toLowerCase(Locale.ROOT))
        .putAllMetadata(request.metadata())
        // No redirects: the bank has no page of ours to send the buyer back to.
        .setAutomaticPaymentMethods(
            AutomaticPaymentMethods.builder()
                .setEnabled(true)
                .setAllowRedirects(AutomaticPaymentMethods.AllowRedirects.NEVER)
                .build());
  }

  private static RequestOptions options(PaymentKey key) {
    return RequestOptions.builder().setIdempotencyKey(key.value()).build();
  }

  /** A call that Stripe may refuse. */
  @FunctionalInterface
  private interface StripeCall {
    PaymentResult run() throws StripeException;
  }

  private static PaymentResult payment(StripeCall call) {
    try {
      return call.run();
    } catch (StripeException e) {
      return StripeOutcomes.of(e);
    }
  }

  private CompletionStage<PaymentResult> call(
      Operation operation, Supplier<CompletionStage<PaymentResult>> work) {
    return call(
        operation, work, () -> new Rejected("overloaded", "Too many payments are in progress."));
  }

  private <T> CompletionStage<T> call(
      Operation operation, Supplier<CompletionStage<T>> work, Supplier<T> noRoom) {
    try {
      return slots.run(() -> warm.thenCompose(ready -> timed(operation, work)));
    } catch (RejectedExecutionException e) {
      return CompletableFuture.completedStage(noRoom.get());
    }
  }

  private <T> CompletionStage<T> timed(Operation operation, Supplier<CompletionStage<T>> work) {
    long beganNanos = System.nanoTime();
    return work.get()
        .thenApply(
            result -> {
              listener.onCall(
                  operation, Duration.ofNanos(System.nanoTime() - beganNanos), isRefusal(result));
              return result;
            });
  }

  private static boolean isRefusal(Object result) {
    return result instanceof PaymentResult.Declined
        || result instanceof Rejected
        || result instanceof RefundResult.Rejected
        || result instanceof RefundResult.Failed;
  }
}
