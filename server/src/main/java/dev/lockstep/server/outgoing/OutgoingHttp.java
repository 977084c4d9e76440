package dev.lockstep.server.outgoing;

import dev.lockstep.server.outgoing.PostResult.Answered;
import dev.lockstep.server.outgoing.PostResult.Failed;
import dev.lockstep.server.outgoing.PostResult.Refused;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Posts to URLs that others chose. A name is resolved once. If any of its addresses is not public,
 * the request is refused; otherwise the connection goes to one of them, with the name in the Host
 * header and the TLS handshake. Redirects, cookies and proxies are not used. Every result comes
 * within the configured time. Thread-safe; never blocks.
 */
public final class OutgoingHttp implements AutoCloseable {
  private static final int RESOLVERS = 32;
  private static final int MAX_ADDRESSES = 4;
  private static final int MAX_SHOWN = 200;

  private final Vertx vertx;
  private final OutgoingConfig config;
  private final HttpClient client;
  private final WorkerExecutor resolvers;
  // Names being resolved: an unresponsive name holds one thread, however many ask for it.
  private final Map<String, Future<List<InetAddress>>> lookups;

  public OutgoingHttp(Vertx vertx, OutgoingConfig config) {
    this(vertx, config, new ConcurrentHashMap<>());
  }

  private OutgoingHttp(
      Vertx vertx, OutgoingConfig config, Map<String, Future<List<InetAddress>>> lookups) {
    this.vertx = vertx;
    this.config = config;
    this.lookups = lookups;
    int connectMs = Math.toIntExact(config.connectTimeout().toMillis());
    HttpClientOptions options =
        new HttpClientOptions()
            .setConnectTimeout(connectMs)
            .setSslHandshakeTimeoutUnit(TimeUnit.MILLISECONDS)
            .setSslHandshakeTimeout(connectMs)
            .setVerifyHost(true)
            .setForceSni(true)
            .setMaxRedirects(0)
            .setDecompressionSupported(false);
    config.trust().ifPresent(options::setTrustOptions);
    this.client =
        vertx.createHttpClient(options, new PoolOptions().setHttp1MaxSize(config.connections()));
    this.resolvers = vertx.createSharedWorkerExecutor("lockstep-resolver", RESOLVERS);
  }

  /** The same rules with separate connections, which nobody else waits for. */
  public OutgoingHttp separate() {
    return new OutgoingHttp(vertx, config, lookups);
  }

  /**
   * Parses a URL by this server's rules.
   *
   * @throws IllegalArgumentException with a message that follows the URL's name
   */
  public Target target(String url) {
    return Target.parse(url, config.allowPrivateTargets());
  }

  /** Posts once. The stage never fails. */
  public CompletionStage<PostResult> post(Target target, Map<String, String> headers, byte[] body) {
    Attempt attempt = new Attempt();
    Buffer sent = Buffer.buffer(body);
    return addresses(target)
        .compose(addresses -> toFirstOf(addresses, 0, target, headers, sent, attempt))
        .timeout(config.totalTimeout().toMillis(), TimeUnit.MILLISECONDS)
        .otherwise(
            thrown -> {
              attempt.end();
              return thrown instanceof NotPublic refused
                  ? new Refused(refused.reason)
                  : new Failed(reason(target, thrown));
            })
        .toCompletionStage();
  }

  @Override
  public void close() {
    client.close();
    var unused = resolvers.close();
  }

  private Future<List<InetAddress>> addresses(Target target) {
    String name = target.bareHost();
    Promise<List<InetAddress>> mine = Promise.promise();
    Future<List<InetAddress>> first = lookups.putIfAbsent(name, mine.future());
    if (first == null) {
      resolvers
          .executeBlocking(() -> config.resolver().resolve(name), false)
          .onComplete(
              found -> {
                lookups.remove(name);
                mine.handle(found);
              });
    }
    return (first == null ? mine.future() : first).map(found -> checked(target, found));
  }

  private List<InetAddress> checked(Target target, List<InetAddress> found) {
    if (found.isEmpty()) {
      throw new NoHost();
    }
    for (InetAddress address : found) {
      Optional<String> other = PublicAddress.otherPurpose(address);
      if (other.isPresent() && !config.allowPrivateTargets()) {
        throw new NotPublic(target.host() + " leads to a " + other.get() + " address");
      }
    }
    return found.subList(0, Math.min(MAX_ADDRESSES, found.size()));
  }

  /** Tries one address after the other until a connection succeeds. */
  private Future<PostResult> toFirstOf(
      List<InetAddress> addresses,
      int index,
      Target target,
      Map<String, String> headers,
      Buffer body,
      Attempt attempt) {
    if (attempt.over) {
      return Future.failedFuture(new TimeoutException());
    }
    RequestOptions options =
        new RequestOptions()
            .setMethod(HttpMethod.POST)
            .setServer(server(addresses.get(index), target.port()))
            .setHost(target.host())
            .setPort(target.port())
            .setSsl(target.secure())
            .setURI(target.path())
            .setFollowRedirects(false);
    headers.forEach(options::putHeader);
    return client
        .request(options)
        .transform(
            connected -> {
              if (connected.failed() && index + 1 < addresses.size()) {
                return toFirstOf(addresses, index + 1, target, headers, body, attempt);
              }
              return connected.failed()
                  ? Future.failedFuture(connected.cause())
                  : send(connected.result(), body, attempt);
            });
  }

  /**
   * The bare address. The client connects to the text, pools connections by it and parses it as an
   * authority: a host name in the address would be resolved again, unchecked, and an IPv6 address
   * without brackets is malformed.
   */
  private static SocketAddress server(InetAddress address, int port) {
    byte[] bytes = address.getAddress();
    try {
      String text = InetAddress.getByAddress(bytes).getHostAddress();
      return SocketAddress.inetSocketAddress(port, bytes.length == 4 ? text : "[" + text + "]");
    } catch (UnknownHostException e) {
      throw new IllegalStateException("an address has 4 or 16 bytes", e);
    }
  }

  private Future<PostResult> send(HttpClientRequest request, Buffer body, Attempt attempt) {
    return attempt.begin(request)
        ? request.send(body).compose(this::read)
        : Future.failedFuture(new TimeoutException());
  }

  /** Reads up to the limit; beyond it, the connection is cut. */
  private Future<PostResult> read(HttpClientResponse response) {
    Buffer kept = Buffer.buffer();
    Promise<PostResult> read = Promise.promise();
    response.handler(
        part -> {
          kept.appendBuffer(part);
          if (kept.length() > config.maxAnswerBytes() && read.tryComplete(answer(response, kept))) {
            response.request().reset();
          }
        });
    response.endHandler(end -> read.tryComplete(answer(response, kept)));
    response.exceptionHandler(read::tryFail);
    return read.future();
  }

  private static PostResult answer(HttpClientResponse response, Buffer body) {
    String text = new String(body.getBytes(), StandardCharsets.UTF_8);
    String shown = text.substring(0, Math.min(MAX_SHOWN, text.length())).strip();
    return new Answered(
        response.statusCode(), retryAfter(response.getHeader("Retry-After")), shown);
  }

  /** Seconds or a date; anything else is ignored. */
  private static Optional<Duration> retryAfter(@Nullable String header) {
    if (header == null) {
      return Optional.empty();
    }
    String value = header.strip();
    if (value.matches("\\d{1,9}")) {
      return Optional.of(Duration.ofSeconds(Long.parseLong(value)));
    }
    try {
      Instant at = Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(value));
      Duration wait = Duration.between(Instant.now(), at);
      return wait.isNegative() ? Optional.empty() : Optional.of(wait);
    } catch (DateTimeParseException e) {
      return Optional.empty();
    }
  }

  private String reason(Target target, Throwable thrown) {
    if (thrown instanceof UnknownHostException || thrown instanceof NoHost) {
      return "Unknown host " + target.host();
    }
    if (thrown instanceof TimeoutException) {
      return "No answer within " + config.totalTimeout().toMillis() + " ms";
    }
    if (thrown instanceof ConnectException) {
      return "No connection: " + thrown.getMessage();
    }
    return thrown instanceof SSLException
        ? "No secure connection: " + thrown.getMessage()
        : "The request failed: " + thrown.getMessage();
  }

  /**
   * One call of {@link #post}. Its time may be up while a name is looked up or an address connected
   * to; nothing may be sent after that, because the caller was told that it failed and may be
   * sending it again.
   */
  private static final class Attempt {
    private volatile boolean over;
    private volatile @Nullable HttpClientRequest request;

    void end() {
      over = true;
      HttpClientRequest begun = request;
      if (begun != null) {
        begun.reset();
      }
    }

    /** False if it came too late. */
    boolean begin(HttpClientRequest connected) {
      request = connected;
      if (over) {
        connected.reset();
        return false;
      }
      return true;
    }
  }

  /** A name without addresses. */
  private static final class NoHost extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NoHost() {
      super(null, null, false, false);
    }
  }

  /** Carries a refusal out of the chain. */
  private static final class NotPublic extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String reason;

    NotPublic(String reason) {
      super(reason, null, false, false);
      this.reason = reason;
    }
  }
}
