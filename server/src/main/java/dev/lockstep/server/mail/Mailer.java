package dev.lockstep.server.mail;

import dev.lockstep.server.mail.SendResult.Failed;
import dev.lockstep.server.mail.SendResult.Rejected;
import dev.lockstep.server.mail.SendResult.Sent;
import io.vertx.core.Vertx;
import io.vertx.ext.mail.LoginOption;
import io.vertx.ext.mail.MailClient;
import io.vertx.ext.mail.MailConfig;
import io.vertx.ext.mail.MailMessage;
import io.vertx.ext.mail.SMTPException;
import io.vertx.ext.mail.StartTLSOptions;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Sends mail through one SMTP server, one connection per message. Every result comes within the
 * configured time. A permanent refusal (5xx) of sender, recipient or message is final; every other
 * failure may pass. Thread-safe; never blocks.
 */
public final class Mailer implements AutoCloseable {
  private static final int MAX_SHOWN = 500;

  /** Permanent by code, but about our login: fixing the server or our configuration repairs it. */
  private static final Set<Integer> OF_THE_LOGIN = Set.of(530, 534, 535, 538);

  private final Vertx vertx;
  private final SmtpConfig config;
  private volatile MailClient client;

  public Mailer(Vertx vertx, SmtpConfig config) {
    this.vertx = vertx;
    this.config = config;
    this.client = MailClient.create(vertx, settings(config));
  }

  /** The client verifies certificate names by default. */
  private static MailConfig settings(SmtpConfig config) {
    MailConfig settings =
        new MailConfig()
            .setHostname(config.host())
            .setPort(config.port())
            .setOwnHostname(MailAddress.domain(config.from()))
            .setStarttls(
                config.tls() == SmtpConfig.Tls.STARTTLS
                    ? StartTLSOptions.REQUIRED
                    : StartTLSOptions.DISABLED)
            .setSsl(config.tls() == SmtpConfig.Tls.TLS)
            .setMaxPoolSize(config.connections())
            // An idle connection may have died unnoticed.
            .setKeepAlive(false)
            .setConnectTimeout(Math.toIntExact(config.connectTimeout().toMillis()))
            .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
            .setIdleTimeout(Math.toIntExact(config.totalTimeout().toMillis()))
            .setLogin(LoginOption.DISABLED);
    config
        .login()
        .ifPresent(
            login ->
                settings
                    .setLogin(LoginOption.REQUIRED)
                    .setUsername(login.user())
                    .setPassword(login.password().reveal()));
    return settings;
  }

  /** The messages sent at once; more would wait for a connection. */
  public int connections() {
    return config.connections();
  }

  /** Sends once. The stage never fails. */
  public CompletionStage<SendResult> send(Message message) {
    MailMessage mail =
        new MailMessage()
            .setFrom(config.from())
            .setTo(message.to())
            .setSubject(EncodedWords.subject(message.subject()))
            .setText(message.text())
            .addHeader(
                "Message-ID", "<%s@%s>".formatted(message.id(), MailAddress.domain(config.from())));
    message.html().ifPresent(mail::setHtml);
    MailClient used = client;
    return used.sendMail(mail)
        .timeout(config.totalTimeout().toMillis(), TimeUnit.MILLISECONDS)
        .<SendResult>map(sent -> new Sent())
        .otherwise(
            thrown -> {
              if (thrown instanceof TimeoutException) {
                replace(used);
              }
              return failure(thrown);
            })
        .toCompletionStage();
  }

  /**
   * A client cannot cancel a message, and every byte from the server keeps the connection open. So
   * later messages go through a new client, and this one closes with its connections.
   */
  private synchronized void replace(MailClient stuck) {
    if (client == stuck) {
      client = MailClient.create(vertx, settings(config));
      var unused = stuck.close();
    }
  }

  private SendResult failure(Throwable thrown) {
    if (thrown instanceof TimeoutException) {
      return new Failed("No answer within %d ms".formatted(config.totalTimeout().toMillis()));
    }
    String text = String.valueOf(thrown.getMessage());
    String reason = text.substring(0, Math.min(MAX_SHOWN, text.length())).strip();
    return thrown instanceof SMTPException answer
            && answer.isPermanent()
            && saysItsCode(answer)
            && !OF_THE_LOGIN.contains(answer.getReplyCode())
        ? new Rejected(reason)
        : new Failed(reason);
  }

  /** The client reports an answer that is not SMTP, such as HTTP, as a 500. */
  private static boolean saysItsCode(SMTPException answer) {
    return answer.getReplyMessage().startsWith(Integer.toString(answer.getReplyCode()));
  }

  @Override
  public void close() {
    var unused = client.close();
  }
}
