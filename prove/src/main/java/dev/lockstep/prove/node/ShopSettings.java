package dev.lockstep.prove.node;

import dev.lockstep.prove.history.Fields;
import java.util.HashMap;
import java.util.Map;

/**
 * How a shop runs.
 *
 * @param httpPort where it listens; the same after a restart
 * @param databasePort where the database is, as far as this shop knows: a proxy
 * @param gatewayPort where the payment provider is: a proxy as well
 */
public record ShopSettings(
    int httpPort,
    int databasePort,
    int gatewayPort,
    String database,
    String user,
    String password) {
  /** Known only to the driver; the shop listens on loopback. */
  public static final String OPERATOR_KEY = "operator-key-of-a-campaign";

  public static final String STRIPE_KEY = "sk_test_of_a_campaign";
  public static final String WEBHOOK_SECRET = "whsec_of_a_campaign";

  /** The command-line argument that {@link #parse} reads. */
  public String argument() {
    return Fields.of(
            "http", httpPort,
            "port", databasePort,
            "gateway", gatewayPort,
            "database", database,
            "user", user,
            "password", password)
        .line();
  }

  static ShopSettings parse(String argument) {
    Fields fields = Fields.parse(argument);
    return new ShopSettings(
        (int) fields.number("http"),
        (int) fields.number("port"),
        (int) fields.number("gateway"),
        fields.text("database"),
        fields.text("user"),
        fields.text("password"));
  }

  /** The server's settings, with short timeouts, so that timers act within a round. */
  Map<String, String> environment() {
    Map<String, String> all = new HashMap<>();
    all.put("LOCKSTEP_PORT", String.valueOf(httpPort));
    all.put(
        "LOCKSTEP_DATABASE_URL",
        "jdbc:postgresql://127.0.0.1:%d/%s?user=%s&password=%s&sslmode=disable&gssEncMode=disable"
            .formatted(databasePort, database, user, password));
    all.put("LOCKSTEP_OPERATOR_KEY", OPERATOR_KEY);
    all.put("LOCKSTEP_SAMPLES", "false");
    all.put("LOCKSTEP_LAB", "false");
    all.put("LOCKSTEP_STRIPE_KEY", STRIPE_KEY);
    all.put("LOCKSTEP_STRIPE_API_BASE", "http://127.0.0.1:" + gatewayPort);
    all.put("LOCKSTEP_STRIPE_WEBHOOK_SECRET", WEBHOOK_SECRET);
    all.put("LOCKSTEP_PAYMENT_ANSWER_TIMEOUT", "2s");
    all.put("LOCKSTEP_PAYMENT_LOOK_AFTER", "1s");
    all.put("LOCKSTEP_PAYMENT_ACTION_WINDOW", "3s");
    return all;
  }
}
