package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.server.config.ServerConfig;
import dev.lockstep.server.database.DatabaseAddress;
import dev.lockstep.server.setting.Kind;
import dev.lockstep.server.setting.Setting;
import dev.lockstep.server.setting.SettingValue;
import dev.lockstep.server.setting.SettingsText;
import dev.lockstep.server.setting.Sources;
import dev.lockstep.server.setting.WrongSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Every setting of the table, whichever there are. */
class SettingsTest {
  /** Room on all sides, so that one setting can be moved to its ends without touching another. */
  private static final Map<String, String> ROOMY =
      Map.of(
          "LOCKSTEP_POOL_SIZE", "900",
          "LOCKSTEP_POOL_WAIT", "251ms",
          "LOCKSTEP_TRANSACTION_DEADLINE", "599s",
          "LOCKSTEP_STATEMENT_TIMEOUT", "598s",
          "LOCKSTEP_LOCK_TIMEOUT", "597s",
          "LOCKSTEP_RETENTION_ANSWERS", "3649d",
          "LOCKSTEP_HOLD_LIFETIME", "2s",
          "LOCKSTEP_HOLD_MAX", "23h",
          "LOCKSTEP_HOLD_MAX_IN_ALL", "47h",
          "LOCKSTEP_HTTP_ANSWER_TIMEOUT", "59m");

  /** What a setting makes no sense without. */
  private static final Map<String, String> MAIL =
      Map.of("LOCKSTEP_SMTP_HOST", "mail", "LOCKSTEP_SMTP_FROM", "a@example.com");

  private static final Map<String, String> LOGIN =
      Map.of(
          "LOCKSTEP_SMTP_HOST", "mail",
          "LOCKSTEP_SMTP_FROM", "a@example.com",
          "LOCKSTEP_SMTP_USER", "somebody",
          "LOCKSTEP_SMTP_PASSWORD", "another password");

  private static final Map<String, Map<String, String>> COMPANIONS =
      Map.ofEntries(
          Map.entry("smtp.host", Map.of("LOCKSTEP_SMTP_FROM", "a@example.com")),
          Map.entry("smtp.from", MAIL),
          Map.entry("smtp.tls", MAIL),
          Map.entry("smtp.port", MAIL),
          Map.entry("smtp.user", LOGIN),
          Map.entry("smtp.password", LOGIN),
          Map.entry("http.connections-per-address", Map.of("LOCKSTEP_HTTP_CONNECTIONS", "1000000")),
          Map.entry("live.streams", Map.of("LOCKSTEP_HTTP_CONNECTIONS", "1000000")),
          Map.entry("stripe.api-base", Map.of("LOCKSTEP_STRIPE_KEY", "sk_test_1")),
          Map.entry("statement.timeout", Map.of("LOCKSTEP_TRANSACTION_DEADLINE", "10m")),
          Map.entry("lock.timeout", Map.of("LOCKSTEP_IDLE_TIMEOUT", "100ms")));

  @SuppressWarnings("NullAway.Init")
  @TempDir
  Path folder;

  private static List<SettingValue> table() {
    return ServerConfig.table(Sources.NONE).values();
  }

  @TestFactory
  Stream<DynamicTest> everySettingChangesTheConfigurationFromEverySource() {
    return table().stream()
        .map(SettingValue::setting)
        .map(
            setting ->
                DynamicTest.dynamicTest(setting.name(), () -> assertItChangesSomething(setting)));
  }

  private void assertItChangesSomething(Setting setting) throws Exception {
    Map<String, String> roomy = new HashMap<>(ROOMY);
    roomy.putAll(COMPANIONS.getOrDefault(setting.name(), Map.of()));
    String before = described(ServerConfig.of(Sources.of(Map.of(), roomy)));
    roomy.remove(setting.variable());
    Set<String> made = new HashSet<>();
    for (String value : examples(setting.kind())) {
      Map<String, String> environment = new HashMap<>(roomy);
      environment.put(setting.variable(), value);
      if (setting.name().equals("port") || accepted(environment)) {
        String config = described(ServerConfig.of(Sources.of(Map.of(), environment)));
        made.add(config);
        Path file = folder.resolve("lockstep.properties");
        Files.writeString(file, setting.name() + " = " + value + "\n");
        Map<String, String> flags = new HashMap<>(Map.of("--config", file.toString()));
        assertThat(described(ServerConfig.of(Sources.of(flags, roomy)))).isEqualTo(config);
        setting
            .flag()
            .ifPresent(
                flag ->
                    assertThat(described(ServerConfig.of(Sources.of(Map.of(flag, value), roomy))))
                        .isEqualTo(config));
      }
    }
    made.add(before);
    assertThat(made).as("configurations that differ").hasSizeGreaterThan(1);
  }

  private static boolean accepted(Map<String, String> environment) {
    try {
      return ServerConfig.of(Sources.of(Map.of(), environment)) != null;
    } catch (WrongSettings relation) {
      return false;
    }
  }

  /** With secrets told apart: a configuration itself shows none. */
  private static String described(ServerConfig config) {
    return config
        + config.operatorKey().map(key -> key.reveal()).orElse("")
        + config.payments().stripeKey().map(key -> key.reveal()).orElse("")
        + config.payments().webhookSecret().map(key -> key.reveal()).orElse("")
        + config.edge().trust().metricsToken().map(key -> key.reveal()).orElse("")
        + config.deliveries().signingKeys().stream().map(key -> key.reveal()).toList()
        + config
            .deliveries()
            .smtp()
            .flatMap(smtp -> smtp.login())
            .map(login -> login.password().reveal())
            .orElse("");
  }

  private static <T> List<String> examples(Kind<T> kind) {
    return kind.write().apply(kind.examples().get(0)).equals("hidden")
        ? List.of("a-good-secret-of-thirty-two-letters!")
        : kind.examples().stream()
            .map(
                example ->
                    example instanceof DatabaseAddress address
                        ? address.url()
                        : kind.write().apply(example))
            .toList();
  }

  @Test
  void everySettingHasAVariableAndAFlagOfItsOwnAndAPlainMeaning() {
    List<Setting> all = table().stream().map(SettingValue::setting).toList();
    assertThat(all).hasSizeGreaterThan(40);
    assertThat(all).extracting(Setting::variable).doesNotHaveDuplicates();
    assertThat(all.stream().flatMap(setting -> setting.flag().stream())).doesNotHaveDuplicates();
    assertThat(all)
        .allSatisfy(
            setting -> {
              assertThat(setting.meaning()).matches("[A-Z].*\\.").hasSizeLessThan(160);
              assertThat(setting.group()).isNotEmpty();
            });
    assertThat(all.stream().filter(Setting::secret).map(Setting::name))
        .containsExactlyInAnyOrder(
            "operator.key",
            "metrics.token",
            "stripe.key",
            "stripe.webhook-secret",
            "webhook.secret",
            "smtp.password");
  }

  @Test
  void theNamesThatAreDocumentedStay() {
    assertThat(table().stream().map(value -> value.setting().variable()))
        .contains(
            "LOCKSTEP_PORT",
            "LOCKSTEP_DATA",
            "LOCKSTEP_HOST",
            "LOCKSTEP_DATABASE_URL",
            "LOCKSTEP_OPERATOR_KEY",
            "LOCKSTEP_STRIPE_KEY",
            "LOCKSTEP_STRIPE_API_BASE",
            "LOCKSTEP_STRIPE_WEBHOOK_SECRET",
            "LOCKSTEP_KAFKA_BOOTSTRAP",
            "LOCKSTEP_SAMPLES",
            "LOCKSTEP_VISITORS",
            "LOCKSTEP_ALLOW_PRIVATE_TARGETS",
            "LOCKSTEP_WEBHOOK_SECRET",
            "LOCKSTEP_GATEWAY_FAULTS",
            "LOCKSTEP_LISTEN",
            "LOCKSTEP_LAB",
            "LOCKSTEP_LOG",
            "LOCKSTEP_LOG_LEVEL",
            "LOCKSTEP_HEAP");
  }

  @Test
  void theDocumentIsWrittenFromTheTable() throws Exception {
    String written = SettingsText.markdown(table());
    assertThat(Repository.root().resolve("docs/settings.md"))
        .as("Write it anew with ./lockstep settings --markdown > docs/settings.md")
        .hasContent(written);
  }

  @Test
  void theScriptStartsJavaWithTheHeapThatTheTableNames() throws Exception {
    String heap =
        table().stream()
            .filter(value -> value.setting().name().equals("heap"))
            .map(SettingValue::shown)
            .findFirst()
            .orElseThrow();
    assertThat(heap).isEqualTo("1g");
    assertThat(Files.readString(Repository.root().resolve("lockstep"))).contains("mebibytes=1024;");
  }

  @Test
  void relationsNameBothSettings() {
    assertRefused(
        Map.of("LOCKSTEP_LOCK_TIMEOUT", "11s"),
        "lock.timeout (11s, LOCKSTEP_LOCK_TIMEOUT) must not exceed statement.timeout (8s, default)");
    assertRefused(
        Map.of("LOCKSTEP_IDLE_TIMEOUT", "4s"),
        "idle.timeout (4s, LOCKSTEP_IDLE_TIMEOUT) must not exceed lock.timeout (3s, default)");
    assertRefused(
        Map.of("LOCKSTEP_STATEMENT_TIMEOUT", "31s"), "must not exceed transaction.deadline (30s");
    assertRefused(
        Map.of("LOCKSTEP_POOL_SIZE", "19"),
        "pool.size (19) must be at least hold.writers + ledger.writers + request.threads + 4, which is 20");
    assertRefused(
        Map.of("LOCKSTEP_REQUEST_THREADS", "9"),
        "pool.size (20) must be at least hold.writers + ledger.writers + request.threads + 4, which is 21");
    assertRefused(
        Map.of("LOCKSTEP_HOLD_QUEUE", "100"),
        "hold.queue-per-key (20000, default) must not exceed hold.queue (100, LOCKSTEP_HOLD_QUEUE)");
    assertRefused(
        Map.of("LOCKSTEP_HOLD_LIFETIME", "2h", "LOCKSTEP_HOLD_MAX", "1h"),
        "hold.lifetime (2h, LOCKSTEP_HOLD_LIFETIME) must not exceed hold.max (1h");
    assertRefused(
        Map.of("LOCKSTEP_RETENTION_ANSWERS", "23h"),
        "retention.answers (23h, LOCKSTEP_RETENTION_ANSWERS) must not be shorter than hold.max (1d");
    assertRefused(
        Map.of("LOCKSTEP_CLAIM_LEASE", "2h"),
        "claim.lease (2h, LOCKSTEP_CLAIM_LEASE) must not exceed claim.max-lease (1h, default)");
    assertRefused(
        Map.of("LOCKSTEP_CLAIM_MAX_WAIT", "90s"),
        "claim.max-wait (90s, LOCKSTEP_CLAIM_MAX_WAIT) must be shorter than http.answer-timeout (90s, default)");
    assertRefused(
        Map.of("LOCKSTEP_REPORT_TIMEOUT", "90s"),
        "report.timeout (90s, LOCKSTEP_REPORT_TIMEOUT) must be shorter than http.answer-timeout (90s, default)");
    assertRefused(
        Map.of("LOCKSTEP_WEBHOOK_TIMEOUT", "1s"),
        "webhook.connect-timeout (5s, default) must not exceed webhook.timeout (1s");
    assertRefused(Map.of("LOCKSTEP_IDLE_TIMEOUT", "0ms"), "from 100ms to 10m");
  }

  @Test
  void aSmallPoolFitsWhereFewBatchesRunAtOnce() {
    ServerConfig config =
        ServerConfig.of(
            Sources.of(
                Map.of(),
                Map.of(
                    "LOCKSTEP_POOL_SIZE", "14",
                    "LOCKSTEP_HOLD_WRITERS", "1",
                    "LOCKSTEP_LEDGER_WRITERS", "1")));
    assertThat(config.database().poolSize()).isEqualTo(14);
  }

  @Test
  void theAddressOfADatabaseIsShownWithoutItsPassword() {
    String url = "jdbc:postgresql://db/shop?user=me&password=not-to-be-seen";
    List<SettingValue> values =
        ServerConfig.table(Sources.of(Map.of("--database-url", url), Map.of())).values();
    for (String shown :
        List.of(SettingsText.plain(values), SettingsText.json(values), values.toString())) {
      assertThat(shown).contains("db/shop").doesNotContain("not-to-be-seen");
    }
    String wrong = "jdbc:mysql://db/shop?password=not-to-be-seen";
    assertThatThrownBy(() -> ServerConfig.of(Sources.of(Map.of("--database-url", wrong), Map.of())))
        .hasMessageContaining("--database-url must start with jdbc:postgresql:")
        .hasMessageNotContaining("not-to-be-seen");
  }

  @Test
  void anAddressOfAnotherSpeakerOfStripeHoldsNoPassword() {
    assertRefused(
        Map.of(
            "LOCKSTEP_STRIPE_KEY", "sk_test_1",
            "LOCKSTEP_STRIPE_API_BASE", "http://me:secret@localhost:1"),
        "LOCKSTEP_STRIPE_API_BASE must be an address such as https://api.stripe.com");
  }

  private static void assertRefused(Map<String, String> environment, String... parts) {
    assertThatThrownBy(() -> ServerConfig.of(Sources.of(Map.of(), environment)))
        .isInstanceOf(WrongSettings.class)
        .hasMessageContainingAll(parts)
        .hasMessageNotContaining("fit together");
  }
}
