package dev.lockstep.gateway;

import java.time.Duration;

/**
 * A request on its way to a decision, with everything random already drawn.
 *
 * @param id its own id
 * @param key the client's idempotency key, or a generated one
 * @param fingerprint hash of route and parameters: tells a repetition from another request with the
 *     same key
 * @param apiVersion the version whose event format the client expects
 * @param eventId the id of the event it may cause
 * @param declined a fault: the card does not pay
 * @param processing a fault: the card pays later
 * @param pendingRefund a fault: the refund is done later
 * @param webhookDelay a fault: how much later its event is sent
 */
record GatewayRequest(
    Command command,
    String id,
    String key,
    String fingerprint,
    String apiVersion,
    String eventId,
    boolean declined,
    boolean processing,
    boolean pendingRefund,
    Duration webhookDelay) {
  static final String NO_VERSION = "unknown";

  /** A request that no client sent: it meets no faults, and cannot be repeated. */
  static GatewayRequest ofOurOwn(Command command) {
    String id = GatewayIds.next("req_");
    return new GatewayRequest(
        command,
        id,
        id,
        id,
        NO_VERSION,
        GatewayIds.next("evt_"),
        false,
        false,
        false,
        Duration.ZERO);
  }
}
