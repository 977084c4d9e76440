package dev.lockstep.server.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What receivers check, with the library that they have for it. */
class SignatureTest {
  private static final byte[] BODY = "{}".getBytes(StandardCharsets.UTF_8);
  private static final ReceiverSecret NEW = secret("n");
  private static final ReceiverSecret OLD = secret("o");

  @Test
  void theLibraryOfStandardWebhooksBelievesWhoHasEitherSecret() throws Exception {
    Map<String, String> headers =
        Signature.standard("job-1", BODY, List.of(NEW, OLD), Instant.now());

    for (ReceiverSecret known : List.of(NEW, OLD)) {
      assertThatCode(() -> verify(known, headers, "{}")).doesNotThrowAnyException();
    }
    assertThat(headers.get("webhook-id")).isEqualTo("job-1");
    assertThat(header(headers, "webhook-signature").split(" ", -1)).hasSize(2);
  }

  @Test
  void whatIsSignedCannotBeSwapped() {
    Map<String, String> headers = Signature.standard("job-1", BODY, List.of(NEW), Instant.now());

    refused(secret("x"), headers, "{}");
    refused(NEW, headers, "{ }");
    refused(NEW, with(headers, "webhook-id", "job-2"), "{}");
    long sent = Long.parseLong(header(headers, "webhook-timestamp"));
    refused(NEW, with(headers, "webhook-timestamp", Long.toString(sent - 1)), "{}");
    refused(
        NEW,
        Signature.standard("job-1", BODY, List.of(NEW), Instant.now().minusSeconds(600)),
        "{}");
  }

  private static void refused(ReceiverSecret known, Map<String, String> headers, String body) {
    assertThatThrownBy(() -> verify(known, headers, body))
        .isInstanceOf(WebhookVerificationException.class);
  }

  private static void verify(ReceiverSecret known, Map<String, String> headers, String body)
      throws Exception {
    Map<String, List<String>> all = new TreeMap<>();
    headers.forEach((name, value) -> all.put(name, List.of(value)));
    new Webhook(known.standardText()).verify(body, all);
  }

  private static Map<String, String> with(Map<String, String> headers, String name, String value) {
    Map<String, String> changed = new LinkedHashMap<>(headers);
    changed.put(name, value);
    return changed;
  }

  /**
   * The value was computed with openssl: {@code printf '1700000000.{}' | openssl dgst -sha256 -hmac
   * "whsec_$(head -c 32 /dev/zero | tr '\\0' o | base64 | tr -d =)"}.
   */
  @Test
  void theOldWayIsAsItWas() {
    Instant sentAt = Instant.ofEpochSecond(1_700_000_000);
    Map<String, String> both = Signature.lockstep(BODY, List.of(NEW, OLD), sentAt);
    String old = header(Signature.lockstep(BODY, List.of(OLD), sentAt), "Lockstep-Signature");

    assertThat(old)
        .isEqualTo(
            "t=1700000000,v1=4c31dd48069a7a1b1214ae869eb4137fbe61199298f1f947a6889de818b9072b");
    assertThat(header(both, "Lockstep-Signature"))
        .startsWith("t=1700000000,v1=")
        .endsWith(old.substring(old.indexOf(',')));
    assertThat(header(both, "Lockstep-Signature").split(",", -1))
        .hasSize(3)
        .doesNotHaveDuplicates();
  }

  private static String header(Map<String, String> headers, String name) {
    return Objects.requireNonNull(headers.get(name));
  }

  private static ReceiverSecret secret(String letter) {
    return new ReceiverSecret(letter.repeat(32).getBytes(StandardCharsets.UTF_8));
  }
}
