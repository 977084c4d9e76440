package dev.lockstep.gateway;

import java.util.Optional;

/**
 * How the gateway runs.
 *
 * @param port where it listens on the loopback interface; 0 picks a free port
 * @param apiKey the secret key that its one account must present
 * @param webhooks where events go; empty: none are made
 */
public record GatewayConfig(int port, String apiKey, Optional<WebhookTarget> webhooks) {
  private static final int MAX_PORT = 65_535;

  public GatewayConfig {
    if (port < 0 || port > MAX_PORT) {
      throw new IllegalArgumentException("port " + port);
    }
    if (apiKey.isBlank()) {
      throw new IllegalArgumentException("the gateway needs an API key");
    }
  }

  /** A free port, and no webhooks. */
  public static GatewayConfig withKey(String apiKey) {
    return new GatewayConfig(0, apiKey, Optional.empty());
  }

  public GatewayConfig withWebhooks(WebhookTarget target) {
    return new GatewayConfig(port, apiKey, Optional.of(target));
  }

  /** Without the key, so that a logged configuration gives nothing away. */
  @Override
  public String toString() {
    return "GatewayConfig[port=" + port + ", webhooks=" + webhooks + "]";
  }
}
