package dev.lockstep.server.delivery;

import dev.lockstep.job.JobContext;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.Outcome;
import dev.lockstep.job.QueueConfig;
import dev.lockstep.server.cases.Cases;
import dev.lockstep.server.delivery.Delivery.Mail;
import dev.lockstep.server.delivery.DeliveryListener.Ending;
import dev.lockstep.server.mail.Mailer;
import dev.lockstep.server.mail.Message;
import dev.lockstep.server.mail.SendResult;
import dev.lockstep.server.mail.SendResult.Failed;
import dev.lockstep.server.mail.SendResult.Rejected;
import dev.lockstep.server.mail.SendResult.Sent;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;

/**
 * Sends deliveries by mail, in a separate queue, so that webhooks do not wait for the SMTP server.
 * Thread-safe.
 */
final class Mails {
  static final String QUEUE = "mail";
  static final String KIND = "mail";

  private static final int CONCURRENCY = 8;

  private static final Cases<SendResult, Ending> ENDINGS =
      Cases.<SendResult, Ending>over(SendResult.class)
          .when(Sent.class, sent -> Ending.DELIVERED)
          .when(Rejected.class, rejected -> Ending.REJECTED)
          .when(Failed.class, failed -> Ending.FAILED)
          .complete();

  private static final Cases<SendResult, Outcome> OUTCOMES =
      Cases.<SendResult, Outcome>over(SendResult.class)
          .when(Sent.class, sent -> Outcome.done())
          .when(Rejected.class, rejected -> new Outcome.Dead(rejected.reason()))
          .when(Failed.class, failed -> new Outcome.Retry(failed.reason()))
          .complete();

  private final Optional<Mailer> mailer;
  private final Duration firstBackoff;
  private final DeliveryListener listener;

  Mails(Optional<Mailer> mailer, Duration firstBackoff, DeliveryListener listener) {
    this.mailer = mailer;
    this.firstBackoff = firstBackoff;
    this.listener = listener;
  }

  QueueConfig queue() {
    QueueConfig queue = QueueConfig.of(QUEUE, mailer.map(Mailer::connections).orElse(CONCURRENCY));
    return queue.withBackoff(firstBackoff, queue.maxBackoff());
  }

  boolean isConfigured() {
    return mailer.isPresent();
  }

  static NewJob occurrence(Mail delivery, int maxAttempts) {
    return NewJob.of(QUEUE, KIND, delivery.payload()).withMaxAttempts(maxAttempts);
  }

  Outcome deliver(Mail mail, JobContext job) throws InterruptedException {
    if (mailer.isEmpty()) {
      return new Outcome.Retry("This node has no SMTP server: set LOCKSTEP_SMTP_HOST");
    }
    if (!job.holdsLease()) {
      // The lease is lost: the result would be refused, but the mail would still be sent.
      return new Outcome.Snooze(Duration.ZERO);
    }
    Message message =
        new Message(job.id().toString(), mail.to(), mail.subject(), mail.text(), mail.html());
    long begun = System.nanoTime();
    SendResult result = send(mailer.get(), message);
    listener.onAttempt(ENDINGS.of(result), Duration.ofNanos(System.nanoTime() - begun));
    return OUTCOMES.of(result);
  }

  private static SendResult send(Mailer mailer, Message message) throws InterruptedException {
    try {
      return mailer.send(message).toCompletableFuture().get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("Mailer.send must never fail", e);
    }
  }
}
