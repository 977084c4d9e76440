package dev.lockstep.server.mail;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;
import dev.lockstep.server.key.Secret;
import dev.lockstep.server.mail.SendResult.Failed;
import dev.lockstep.server.mail.SendResult.Sent;
import dev.lockstep.server.mail.SmtpConfig.Tls;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an SMTP server says, and what is made of it. */
@Timeout(120)
class MailerTest {
  private static final Vertx vertx = Vertx.vertx();
  private static final Message MESSAGE =
      new Message("id-1", List.of("ann@example.com"), "s", "text", Optional.empty());

  @AfterAll
  static void stop() {
    vertx.close().await();
  }

  @ParameterizedTest
  @CsvSource({
    "250, Sent",
    "450, Failed",
    "451, Failed",
    "421, Failed",
    "550, Rejected",
    "554, Rejected"
  })
  void aPermanentRefusalIsFinalAndAllElseMayPass(int code, String result) throws Exception {
    try (ScriptedSmtp smtp = new ScriptedSmtp((who, times) -> code)) {
      assertThat(send(local(smtp.port())))
          .extracting(one -> one.getClass().getSimpleName())
          .isEqualTo(result);
    }
  }

  /** As where the port is another service's: the mail is not lost, the setting is repaired. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 400 Bad Request\r\n",
        "\u0000\u0001\r\n",
        "5xx no\r\n",
        "\r\n"
      })
  void whatIsNoAnswerOfSmtpIsNoPermanentRefusal(String greeting) throws Exception {
    try (ServerSocket door = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      CompletableFuture<SendResult> sent =
          CompletableFuture.supplyAsync(() -> sent(local(door.getLocalPort())));
      try (Socket one = door.accept()) {
        one.getOutputStream().write(greeting.getBytes(StandardCharsets.ISO_8859_1));
        assertThat(sent.get()).isInstanceOf(Failed.class);
      }
    }
  }

  /** Each byte puts off the end of a silence, so such a connection never ends by itself. */
  @Test
  void aConnectionOnWhichTheServerNeverFinishesHoldsUpNoOtherMail() throws Exception {
    Duration some = Duration.ofSeconds(3);
    try (ServerSocket door = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        ScriptedSmtp sound = new ScriptedSmtp((who, times) -> 250)) {
      SmtpConfig config =
          new SmtpConfig(
              "127.0.0.1",
              door.getLocalPort(),
              Tls.NONE,
              Optional.empty(),
              "shop@example.com",
              1,
              some,
              some);
      door.setSoTimeout(30_000);
      try (Mailer mailer = new Mailer(vertx, config)) {
        CompletableFuture<SendResult> first = mailer.send(MESSAGE).toCompletableFuture();
        try (Socket endless = door.accept()) {
          goOnUntil(first, endless);
          assertThat(first.get()).isEqualTo(new Failed("No answer within 3000 ms"));

          CompletableFuture<SendResult> second = mailer.send(MESSAGE).toCompletableFuture();
          CompletableFuture<Void> accepted =
              CompletableFuture.runAsync(() -> acceptInto(sound, door));
          goOnUntil(second, endless);
          assertThat(second.get()).isEqualTo(new Sent());
          accepted.get();
        }
      }
    }
  }

  private static void acceptInto(ScriptedSmtp smtp, ServerSocket door) {
    try {
      smtp.take(door.accept());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void goOnUntil(CompletableFuture<SendResult> result, Socket endless)
      throws Exception {
    while (!result.isDone()) {
      endless.getOutputStream().write("220-and\r\n".getBytes(StandardCharsets.UTF_8));
      try {
        var unused = result.get(100, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        // One more line.
      }
    }
  }

  private static SendResult sent(SmtpConfig config) {
    try {
      return send(config);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aServerThatFallsSilentOrIsNotThereIsGivenUp() throws Exception {
    Duration little = Duration.ofMillis(500);
    try (ScriptedSmtp smtp = new ScriptedSmtp((who, times) -> 0)) {
      assertThat(send(local(smtp.port()).withTimeouts(little, little)))
          .isEqualTo(new Failed("No answer within 500 ms"));
    }
    int nobody;
    try (ScriptedSmtp closed = new ScriptedSmtp((who, times) -> 0)) {
      nobody = closed.port();
    }
    assertThat(send(local(nobody))).isInstanceOf(Failed.class);
  }

  @Test
  void aWrongPasswordIsOursToRepairAndCostsNoMail() throws Exception {
    GreenMail smtp = start(ServerSetup.PROTOCOL_SMTP);
    try {
      smtp.getManagers().getUserManager().setAuthRequired(true);
      smtp.setUser("shop@example.com", "shop", "right");
      SmtpConfig config = local(smtp.getSmtp().getPort());
      assertThat(send(config.withLogin("shop", Secret.of("wrong")))).isInstanceOf(Failed.class);
      assertThat(send(config.withLogin("shop", Secret.of("right")))).isEqualTo(new Sent());
    } finally {
      smtp.stop();
    }
  }

  @Test
  void aServerThatCannotEncryptGetsNothingWhenItMust() throws Exception {
    try (ScriptedSmtp smtp = new ScriptedSmtp((who, times) -> 250)) {
      SmtpConfig config = SmtpConfig.of("127.0.0.1", smtp.port(), Tls.STARTTLS, "shop@example.com");
      assertThat(send(config)).isInstanceOf(Failed.class);
      assertThat(smtp.taken()).isEmpty();
    }
  }

  @Test
  void aServerWithACertificateThatNobodyVouchesForGetsNothing() throws Exception {
    GreenMail smtp = start(ServerSetup.PROTOCOL_SMTPS);
    try {
      SmtpConfig config =
          SmtpConfig.of("127.0.0.1", smtp.getSmtps().getPort(), Tls.TLS, "shop@example.com");
      assertThat(send(config)).isInstanceOf(Failed.class);
      assertThat(smtp.getReceivedMessages()).isEmpty();
    } finally {
      smtp.stop();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"shop", "a\nb <shop@example.com>", "Shop <shop>", "\"Shop\" <s@e.com>"})
  void aSenderIsAnAddressPerhapsWithAName(String from) {
    assertThatThrownBy(() -> SmtpConfig.of("h", 25, Tls.NONE, from))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(SmtpConfig.of("h", 25, Tls.NONE, "Der Lädchen <s@e.com>").from()).isNotEmpty();
  }

  private static GreenMail start(String protocol) {
    GreenMail smtp = new GreenMail(new ServerSetup(0, "127.0.0.1", protocol));
    smtp.start();
    return smtp;
  }

  private static SmtpConfig local(int port) {
    return SmtpConfig.of("127.0.0.1", port, Tls.NONE, "shop@example.com");
  }

  private static SendResult send(SmtpConfig config) throws Exception {
    try (Mailer mailer = new Mailer(vertx, config)) {
      return mailer.send(MESSAGE).toCompletableFuture().get();
    }
  }
}
