package dev.lockstep.server.delivery;

import dev.lockstep.job.JobContext;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.NewJob.Lane;
import dev.lockstep.job.Outcome;
import dev.lockstep.job.QueueConfig;
import dev.lockstep.server.cases.Cases;
import dev.lockstep.server.delivery.Delivery.Webhook;
import dev.lockstep.server.delivery.DeliveryListener.Ending;
import dev.lockstep.server.delivery.Receivers.Admission;
import dev.lockstep.server.delivery.Receivers.Admission.Aside;
import dev.lockstep.server.delivery.Receivers.Admission.Entered;
import dev.lockstep.server.outgoing.OutgoingHttp;
import dev.lockstep.server.outgoing.PostResult;
import dev.lockstep.server.outgoing.PostResult.Answered;
import dev.lockstep.server.outgoing.PostResult.Failed;
import dev.lockstep.server.outgoing.PostResult.Refused;
import dev.lockstep.server.outgoing.SignatureKind;
import dev.lockstep.server.outgoing.Target;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;

/**
 * Posts deliveries to webhooks. Each receiver's jobs form a lane that bounds how many run at once,
 * so waiting ones hold no thread and cost no write. {@link Receivers} ensures that slow receivers
 * leave threads for others. Thread-safe.
 */
final class Webhooks {
  static final String QUEUE = "webhooks";
  static final String KIND = "webhook";

  /** The longest pause that a receiver can ask for. */
  static final Duration MAX_RETRY_AFTER = Duration.ofHours(1);

  private static final int GONE = 410;
  private static final int MAX_LANE_LENGTH = 150;

  private static final Cases<PostResult, Ending> ENDINGS =
      Cases.<PostResult, Ending>over(PostResult.class)
          .when(
              Answered.class, answered -> answered.isSuccess() ? Ending.DELIVERED : Ending.REJECTED)
          .when(Refused.class, refused -> Ending.REFUSED)
          .when(Failed.class, failed -> Ending.FAILED)
          .complete();

  private static final Cases<PostResult, Outcome> OUTCOMES =
      Cases.<PostResult, Outcome>over(PostResult.class)
          .when(Answered.class, Webhooks::outcome)
          .when(Refused.class, refused -> new Outcome.Dead("Not sent: " + refused.reason()))
          .when(Failed.class, failed -> new Outcome.Retry(failed.reason()))
          .complete();

  private final OutgoingHttp http;
  private final ReceiverSecrets secrets;
  private final DeliveryConfig config;
  private final Receivers receivers;
  private final String userAgent;
  private final DeliveryListener listener;

  Webhooks(
      OutgoingHttp http,
      ReceiverSecrets secrets,
      DeliveryConfig config,
      String userAgent,
      DeliveryListener listener) {
    this.http = http;
    this.secrets = secrets;
    this.config = config;
    this.receivers = new Receivers(config, System::nanoTime);
    this.userAgent = userAgent;
    this.listener = listener;
  }

  QueueConfig queue() {
    QueueConfig queue = QueueConfig.of(QUEUE, config.concurrency());
    return queue.withBackoff(config.firstBackoff(), queue.maxBackoff());
  }

  /** The job of one occurrence, in its receiver's lane. */
  static NewJob occurrence(Webhook delivery, int maxAttempts, int perReceiver) {
    NewJob job = NewJob.of(QUEUE, KIND, delivery.payload()).withMaxAttempts(maxAttempts);
    return lane(delivery.url()).map(key -> job.inLane(new Lane(key, perReceiver))).orElse(job);
  }

  /** Host and port; empty for an unreadable URL, which the handler then refuses. */
  private static Optional<String> lane(String url) {
    try {
      String receiver = Target.parse(url, true).receiver();
      // Receivers whose long names end alike may share a lane, which is slower but correct.
      return Optional.of(receiver.substring(Math.max(0, receiver.length() - MAX_LANE_LENGTH)));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** The headers that prove to a receiver that a request comes from us, signed now. */
  Map<String, String> sign(SignatureKind kind, Target receiver, String id, byte[] body) {
    return kind == SignatureKind.STANDARD
        ? Signature.standard(id, body, secrets.of(receiver), Instant.now())
        : Signature.lockstep(body, secrets.of(receiver), Instant.now());
  }

  Outcome deliver(Webhook delivery, JobContext job) throws InterruptedException {
    Target target;
    try {
      // Checked again: a target that was allowed at creation may no longer be.
      target = http.target(delivery.url());
    } catch (IllegalArgumentException e) {
      listener.onAttempt(Ending.REFUSED, Duration.ZERO);
      return new Outcome.Dead("The URL " + e.getMessage());
    }
    Admission admission = receivers.enter(target.receiver());
    if (admission instanceof Aside aside) {
      return new Outcome.Snooze(aside.time());
    }
    try {
      if (!job.holdsLease()) {
        // The lease is lost: the result would be refused, but the request would still be sent.
        return new Outcome.Snooze(Duration.ZERO);
      }
      byte[] body = delivery.body().getBytes(StandardCharsets.UTF_8);
      long begun = System.nanoTime();
      PostResult result = post(target, headers(delivery, job, target, body), body);
      listener.onAttempt(ENDINGS.of(result), Duration.ofNanos(System.nanoTime() - begun));
      return OUTCOMES.of(result);
    } finally {
      receivers.leave((Entered) admission);
    }
  }

  private PostResult post(Target target, Map<String, String> headers, byte[] body)
      throws InterruptedException {
    try {
      return http.post(target, headers, body).toCompletableFuture().get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("OutgoingHttp must never fail", e);
    }
  }

  /** Signed anew at every attempt: receivers refuse old signatures. */
  private Map<String, String> headers(
      Webhook delivery, JobContext job, Target target, byte[] body) {
    String id = job.id().toString();
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Content-Type", "application/json");
    headers.put("User-Agent", userAgent);
    headers.put("Lockstep-Attempt", Integer.toString(job.attempt()));
    headers.put("Lockstep-Schedule", delivery.schedule());
    headers.put("Lockstep-Due", delivery.dueAt().orElse(job.due()).toString());
    if (delivery.signature() == SignatureKind.LOCKSTEP) {
      headers.put("Lockstep-Delivery", id);
    }
    headers.putAll(sign(delivery.signature(), target, id, body));
    return headers;
  }

  private static Outcome outcome(Answered answered) {
    if (answered.isSuccess()) {
      return Outcome.done();
    }
    String error = "Answered " + answered.status();
    if (!answered.body().isEmpty()) {
      error += ": " + answered.body();
    }
    return answered.status() == GONE
        ? new Outcome.Dead(error)
        : new Outcome.Retry(error, answered.retryAfter().flatMap(Webhooks::bounded));
  }

  /** Capped at an hour; zero is left to the backoff. */
  private static Optional<Duration> bounded(Duration wanted) {
    if (wanted.isZero()) {
      return Optional.empty();
    }
    return Optional.of(wanted.compareTo(MAX_RETRY_AFTER) > 0 ? MAX_RETRY_AFTER : wanted);
  }
}
