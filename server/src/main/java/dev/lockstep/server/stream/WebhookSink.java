package dev.lockstep.server.stream;

import dev.lockstep.outbox.CloudEvent;
import dev.lockstep.outbox.Event;
import dev.lockstep.outbox.Session;
import dev.lockstep.outbox.SessionLease;
import dev.lockstep.outbox.Sink;
import dev.lockstep.outbox.SinkResult;
import dev.lockstep.outbox.SinkResult.Down;
import dev.lockstep.outbox.SinkResult.Poison;
import dev.lockstep.outbox.SinkResult.RetryLater;
import dev.lockstep.server.cases.Cases;
import dev.lockstep.server.outgoing.OutgoingHttp;
import dev.lockstep.server.outgoing.PostResult;
import dev.lockstep.server.outgoing.PostResult.Answered;
import dev.lockstep.server.outgoing.PostResult.Failed;
import dev.lockstep.server.outgoing.PostResult.Refused;
import dev.lockstep.server.outgoing.Target;
import dev.lockstep.server.stream.WebhookSettings.Format;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Posts each event to a URL, signed; per key one at a time, the next after a 2xx. Has its own
 * connections, so that no other sink waits for them.
 *
 * <p>An answer that blames the event parks its key. One that blames the receiver or us, or no
 * answer, makes the whole sink pause. But if an event fails with a 5xx or no answer, and others got
 * through since its last such failure, that counts as an attempt at the event; otherwise one event
 * that crashes its receiver would hold up all others forever.
 */
final class WebhookSink implements Sink {
  /** Per partition; with sixteen partitions, as many as a receiver may have connections. */
  private static final int MAX_IN_FLIGHT = 2;

  private static final int MAX_REMEMBERED = 10_000;

  /** Answers below 500 that do not concern the event: authentication, timing, rate, wrong place. */
  private static final Set<Integer> OF_THE_RECEIVER = Set.of(401, 407, 408, 410, 425, 429);

  /** Headers about the connection or body, or our own: an event must not set them. */
  private static final Set<String> NOT_FORWARDED =
      Set.of(
          "authorization",
          "connection",
          "content-encoding",
          "content-length",
          "content-type",
          "cookie",
          "expect",
          "host",
          "keep-alive",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade",
          "user-agent");

  /** Prefixes of headers that an event must not set. */
  private static final List<String> NOT_FORWARDED_FROM = List.of("ce-", "lockstep-", "webhook-");

  /** What an answer says about the event and the sink. */
  @FunctionalInterface
  private interface Judgement {
    SinkResult by(WebhookSink sink, Event event);
  }

  private static final Cases<PostResult, Judgement> JUDGEMENTS =
      Cases.<PostResult, Judgement>over(PostResult.class)
          .when(Answered.class, answered -> (sink, event) -> sink.answered(event, answered))
          .when(
              Refused.class, refused -> (sink, event) -> new Down("Not sent: " + refused.reason()))
          .when(Failed.class, failed -> (sink, event) -> sink.failed(event, failed.reason()))
          .complete();

  private final OutgoingHttp http;
  private final Target target;
  private final WebhookSettings settings;
  private final SinkKinds.Signer signer;
  private final String userAgent;
  private final AtomicLong successes = new AtomicLong();
  private final Map<String, Failure> failures = new ConcurrentHashMap<>();

  /** A failed event, and the number of successes by then. */
  private record Failure(long seq, long successes) {}

  /**
   * @param http closed with this sink
   */
  WebhookSink(
      OutgoingHttp http,
      Target target,
      WebhookSettings settings,
      SinkKinds.Signer signer,
      String userAgent) {
    this.http = http;
    this.target = target;
    this.settings = settings;
    this.signer = signer;
    this.userAgent = userAgent;
  }

  @Override
  public int maxInFlight() {
    return MAX_IN_FLIGHT;
  }

  /** Nothing to open: a receiver cannot be told to refuse a late request of another node. */
  @Override
  public Session open(SessionLease lease) {
    return new Session() {
      @Override
      public CompletionStage<List<SinkResult>> deliver(List<Event> events) {
        return post(events);
      }

      @Override
      public void close() {}
    };
  }

  private CompletionStage<List<SinkResult>> post(List<Event> events) {
    // A sink with a maxInFlight gets single events.
    Event event = events.get(0);
    byte[] body =
        settings.format() == Format.CLOUDEVENTS
            ? event.asCloudEvent().structured()
            : event.content().bytes();
    return http.post(target, headers(event, body), body)
        .thenApply(result -> List.of(judge(event, result)));
  }

  private Map<String, String> headers(Event event, byte[] body) {
    Map<String, String> headers = new LinkedHashMap<>();
    event
        .headers()
        .forEach(
            (name, value) -> {
              if (isForwarded(name.toLowerCase(Locale.ROOT))) {
                headers.put(name, encoded(value));
              }
            });
    headers.put("user-agent", userAgent);
    if (settings.format() == Format.CLOUDEVENTS) {
      headers.put("content-type", CloudEvent.STRUCTURED);
    } else {
      headers.put("content-type", event.content().type());
      headers.put("lockstep-stream", event.stream());
      headers.put("lockstep-key", encoded(event.key()));
      headers.put("lockstep-seq", Long.toString(event.seq()));
      headers.put("lockstep-type", encoded(event.type()));
      headers.put("lockstep-id", Long.toString(event.id()));
    }
    String id = "evt_" + event.id();
    headers.putAll(signer.sign(settings.signature(), target, id, body));
    return headers;
  }

  private static boolean isForwarded(String lowerCaseName) {
    return !NOT_FORWARDED.contains(lowerCaseName)
        && NOT_FORWARDED_FROM.stream().noneMatch(lowerCaseName::startsWith);
  }

  /** Printable ASCII except the percent sign stays; the rest becomes percent-encoded UTF-8. */
  static String encoded(String text) {
    StringBuilder encoded = new StringBuilder();
    for (byte one : text.getBytes(StandardCharsets.UTF_8)) {
      if (one >= ' ' && one < 0x7f && one != '%') {
        encoded.append((char) one);
      } else {
        encoded.append('%').append("%02X".formatted(one & 0xff));
      }
    }
    return encoded.toString();
  }

  private SinkResult judge(Event event, PostResult result) {
    return JUDGEMENTS.of(result).by(this, event);
  }

  private SinkResult answered(Event event, Answered answered) {
    return answered.isSuccess() ? delivered(event) : refused(event, answered);
  }

  private SinkResult delivered(Event event) {
    successes.incrementAndGet();
    failures.remove(event.key());
    return SinkResult.DELIVERED;
  }

  private SinkResult refused(Event event, Answered answered) {
    int status = answered.status();
    String error = "Answered " + status + (answered.body().isEmpty() ? "" : ": " + answered.body());
    if (status >= 500) {
      return failed(event, error);
    }
    if (status < 400) {
      return new Down(error + " (redirects are not followed)");
    }
    return OF_THE_RECEIVER.contains(status) ? new Down(error) : new Poison(error);
  }

  private SinkResult failed(Event event, String error) {
    if (failures.size() >= MAX_REMEMBERED) {
      failures.clear();
    }
    long now = successes.get();
    Failure before = failures.put(event.key(), new Failure(event.seq(), now));
    return before != null && before.seq() == event.seq() && before.successes() < now
        ? new RetryLater(error)
        : new Down(error);
  }

  @Override
  public void close() {
    http.close();
  }
}
