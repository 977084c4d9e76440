package dev.lockstep.server;

import dev.lockstep.server.Client.Reply;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Events of the payment provider, signed and sent to a server. */
final class StripeEvents {
  private StripeEvents() {}

  /** Sends an event, signed now with the server's own secret. */
  static Reply send(RunningServer server, String event) throws Exception {
    return send(server, event, signature(event, RunningServer.WEBHOOK_SECRET, Instant.now()));
  }

  static Reply send(RunningServer server, String event, String signature) throws Exception {
    return server
        .anyone()
        .send("POST", "/v1/webhooks/stripe", event, Map.of("Stripe-Signature", signature));
  }

  /** Written from Stripe's description of its header, not with the code that checks it. */
  static String signature(String event, String secret, Instant at) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    long seconds = at.getEpochSecond();
    byte[] signed = mac.doFinal((seconds + "." + event).getBytes(StandardCharsets.UTF_8));
    return "t=" + seconds + ",v1=" + HexFormat.of().formatHex(signed);
  }
}
