package dev.lockstep.server.payment;

import static io.vertx.core.http.HttpHeaders.CONTENT_TYPE;
import static io.vertx.core.http.HttpHeaders.USER_AGENT;
import static io.vertx.core.http.HttpHeaders.createOptimized;

import com.stripe.exception.ApiConnectionException;
import com.stripe.net.ApiMode;
import com.stripe.net.HttpHeaders;
import com.stripe.net.StripeRequest;
import com.stripe.net.StripeResponse;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import java.net.ConnectException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Carries stripe-java's requests. Its own transport keeps only five idle connections, so hundreds
 * of concurrent payments would each open and close one; the JDK's client took a third of a
 * payment's processor time. This one uses the server's HTTP client and keeps as many connections as
 * there may be payments.
 */
final class StripeTransport extends com.stripe.net.HttpClient implements AutoCloseable {
  /** The client ends a request in time; this covers the case that it does not. */
  private static final Duration GRACE = Duration.ofSeconds(2);

  private static final CharSequence CLIENT_AGENT = createOptimized("X-Stripe-Client-User-Agent");

  private final HttpClient client;
  private final Duration connectTimeout;
  private final Duration answerTimeout;
  private final CharSequence agent = createOptimized(buildXStripeClientUserAgentString());
  // Built once: stripe-java would inspect the environment on every request.
  private final Map<ApiMode, CharSequence> userAgents = new ConcurrentHashMap<>();

  StripeTransport(Vertx vertx, PaymentsConfig config) {
    connectTimeout = config.connectTimeout();
    answerTimeout = config.answerTimeout();
    client =
        vertx.createHttpClient(
            new HttpClientOptions()
                .setKeepAlive(true)
                .setConnectTimeout(Math.toIntExact(connectTimeout.toMillis())),
            new PoolOptions().setHttp1MaxSize(config.maxConcurrent()));
  }

  /** Blocks: for payment threads only. */
  @Override
  public StripeResponse request(StripeRequest request) throws ApiConnectionException {
    return outcome(send(request));
  }

  /** The answer to a request; blocks until it is there. */
  static StripeResponse outcome(Future<StripeResponse> sent) throws ApiConnectionException {
    try {
      return sent.toCompletionStage().toCompletableFuture().get();
    } catch (ExecutionException e) {
      throw failure(e.getCause() == null ? e : e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ApiConnectionException("interrupted while waiting for the answer", e);
    }
  }

  @Override
  public void close() {
    client.close();
  }

  /** Sends it without blocking. */
  Future<StripeResponse> send(StripeRequest request) {
    RequestOptions options =
        new RequestOptions()
            .setMethod(HttpMethod.valueOf(request.method().name()))
            .setAbsoluteURI(request.url())
            .setConnectTimeout(connectTimeout.toMillis())
            .setIdleTimeout(answerTimeout.toMillis());
    request.headers().map().forEach((name, values) -> options.putHeader(name, values.get(0)));
    options.putHeader(
        USER_AGENT,
        userAgents.computeIfAbsent(
            request.apiMode(), mode -> createOptimized(buildUserAgentString(request))));
    options.putHeader(CLIENT_AGENT, agent);
    @Nullable Buffer body = null;
    if (request.content() != null) {
      options.putHeader(CONTENT_TYPE, request.content().contentType());
      body = Buffer.buffer(request.content().byteArrayContent());
    }
    Buffer content = body == null ? Buffer.buffer() : body;
    AtomicBoolean over = new AtomicBoolean();
    AtomicReference<@Nullable HttpClientRequest> begun = new AtomicReference<>();
    // Nested, so that the body is read on the event loop: the body of an answer that ended earlier
    // never arrives.
    return client
        .request(options)
        .compose(
            http -> {
              begun.set(http);
              if (over.get()) {
                // The caller was told that the outcome is unknown, and has moved on.
                http.reset();
                return Future.failedFuture(new TimeoutException());
              }
              return (content.length() == 0 ? http.send() : http.send(content))
                  .compose(StripeTransport::read);
            })
        .timeout(connectTimeout.plus(answerTimeout).plus(GRACE).toMillis(), TimeUnit.MILLISECONDS)
        .onFailure(
            thrown -> {
              over.set(true);
              HttpClientRequest http = begun.get();
              if (http != null) {
                // An endless answer would occupy its connection for ever.
                http.reset();
              }
            });
  }

  private static Future<StripeResponse> read(HttpClientResponse response) {
    return response
        .body()
        .map(
            body ->
                new StripeResponse(
                    response.statusCode(),
                    HttpHeaders.of(toMap(response.headers())),
                    body.toString()));
  }

  private static Map<String, List<String>> toMap(MultiMap headers) {
    Map<String, List<String>> map = new HashMap<>();
    headers.names().forEach(name -> map.put(name, headers.getAll(name)));
    return map;
  }

  /**
   * A timeout is not retried, since that would double the wait. Everything else becomes a
   * ConnectException, which stripe-java retries under the same key.
   */
  private static ApiConnectionException failure(Throwable cause) {
    if (cause instanceof TimeoutException) {
      return new ApiConnectionException("no answer in time", cause);
    }
    ConnectException lost = new ConnectException(cause.toString());
    lost.initCause(cause);
    return new ApiConnectionException("the connection failed", lost);
  }
}
