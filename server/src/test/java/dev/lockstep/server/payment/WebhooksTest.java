package dev.lockstep.server.payment;

import static org.assertj.core.api.Assertions.assertThat;

import com.stripe.net.Webhook;
import dev.lockstep.server.payment.Verification.Forged;
import dev.lockstep.server.payment.Verification.FromTheFuture;
import dev.lockstep.server.payment.Verification.Genuine;
import dev.lockstep.server.payment.Verification.Malformed;
import dev.lockstep.server.payment.Verification.TooOld;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Only what the sender signed, lately, is believed. Signed here by stripe-java itself. */
class WebhooksTest {
  private static final String SECRET = "whsec_1";
  private static final Instant SENT_AT = Instant.ofEpochSecond(1_700_000_000);
  private static final String BODY =
      """
      {"id":"evt_1","object":"event","type":"payment_intent.payment_failed","data":{"object":{
       "id":"pi_1","object":"payment_intent","status":"requires_payment_method","currency":"jpy",
       "amount_received":0,"metadata":{"purchase":"p-1"},
       "last_payment_error":{"code":"card_declined","decline_code":"lost_card","message":"No."}}}}
      """;

  @Test
  void aGenuineEventIsRead() {
    Verification result = verify(BODY, sign(BODY), SENT_AT);
    assertThat(result).isInstanceOf(Genuine.class);
    PaymentEvent event = ((Genuine) result).event();
    assertThat(event.id()).isEqualTo("evt_1");
    assertThat(event.type()).isEqualTo("payment_intent.payment_failed");
    assertThat(event.intent()).contains(new IntentId("pi_1"));
    assertThat(event.metadata()).containsEntry("purchase", "p-1");
    assertThat(event.result())
        .contains(
            new PaymentResult.Declined(Optional.of(new IntentId("pi_1")), "lost_card", "No."));
  }

  @Test
  void aChangedByteIsForged() {
    assertThat(verify(BODY.replace("pi_1", "pi_2"), sign(BODY), SENT_AT))
        .isInstanceOf(Forged.class);
    assertThat(verify(BODY + " ", sign(BODY), SENT_AT)).isInstanceOf(Forged.class);
  }

  @Test
  void anotherSecretIsForged() {
    assertThat(
            WebhookVerifier.verify(
                BODY.getBytes(StandardCharsets.UTF_8), sign(BODY), "whsec_2", SENT_AT))
        .isInstanceOf(Forged.class);
  }

  @Test
  void anotherTimeIsForged() {
    String moved = sign(BODY).replace("t=1700000000", "t=1700000001");
    assertThat(verify(BODY, moved, SENT_AT)).isInstanceOf(Forged.class);
  }

  @Test
  void fiveMinutesEitherWayAreTolerated() {
    Duration edge = WebhookVerifier.TOLERANCE;
    assertThat(edge.toSeconds()).isEqualTo(300);
    assertThat(verify(BODY, sign(BODY), SENT_AT.plus(edge))).isInstanceOf(Genuine.class);
    assertThat(verify(BODY, sign(BODY), SENT_AT.plus(edge).plusSeconds(1)))
        .isInstanceOf(TooOld.class);
    assertThat(verify(BODY, sign(BODY), SENT_AT.minus(edge))).isInstanceOf(Genuine.class);
    assertThat(verify(BODY, sign(BODY), SENT_AT.minus(edge).minusSeconds(1)))
        .isInstanceOf(FromTheFuture.class);
  }

  @Test
  void oneOfSeveralSignaturesIsEnough() {
    String header = sign(BODY);
    String rotated = header.replace(",v1=", ",v0=00,v1=00ff,v1=");
    assertThat(verify(BODY, rotated, SENT_AT)).isInstanceOf(Genuine.class);
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(
      strings = {
        "",
        "t=1700000000",
        "v1=00",
        "t=soon,v1=00",
        "t=1700000000,v1=xyz",
        "t=1700000000,v0=00",
        ",,,==,"
      })
  void aHeaderThatCannotBeCheckedIsMalformed(String header) {
    assertThat(verify(BODY, header, SENT_AT)).isInstanceOf(Malformed.class);
  }

  @Test
  void aHeaderOfAnyLengthIsNotRead() {
    String endless = sign(BODY) + ",v1=00".repeat(1_000);
    assertThat(verify(BODY, endless, SENT_AT)).isInstanceOf(Malformed.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "[]", "{}", "{\"id\":\"evt_1\",\"type\":\"a\",\"data\":[]}"})
  void whatIsSignedAndNoEventIsMalformed(String body) {
    assertThat(verify(body, sign(body), SENT_AT)).isInstanceOf(Malformed.class);
  }

  private static Verification verify(String body, String header, Instant now) {
    return WebhookVerifier.verify(body.getBytes(StandardCharsets.UTF_8), header, SECRET, now);
  }

  private static String sign(String body) {
    try {
      return Webhook.Signature.generateSignatureHeader(body, SECRET, SENT_AT.getEpochSecond());
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
