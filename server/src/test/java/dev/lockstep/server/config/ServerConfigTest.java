package dev.lockstep.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.gateway.GatewayFaults;
import dev.lockstep.server.database.DatabaseAddress;
import dev.lockstep.server.setting.Sources;
import dev.lockstep.server.setting.WrongSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServerConfigTest {
  private static final Map<String, String> NOTHING = Map.of();

  private static ServerConfig of(
      @Nullable String host,
      @Nullable String port,
      @Nullable String data,
      @Nullable String databaseUrl,
      Map<String, String> environment) {
    Map<String, String> flags = new HashMap<>();
    flags.put("--host", host);
    flags.put("--port", port);
    flags.put("--data", data);
    flags.put("--database-url", databaseUrl);
    flags.values().removeIf(Objects::isNull);
    return ServerConfig.of(Sources.of(flags, environment));
  }

  @Test
  void withoutFlagsAndVariablesTheDefaultsHold() {
    ServerConfig config = of(null, null, null, null, NOTHING);
    assertThat(config.port()).isEqualTo(8080);
    assertThat(config.data()).isEqualTo(Path.of(System.getProperty("user.home"), ".lockstep"));
    assertThat(config.externalDatabase()).isEmpty();
  }

  @Test
  void homeIsWhatTheShellCallsHome() {
    assertThat(of(null, null, null, null, Map.of("HOME", "/home/me")).data())
        .isEqualTo(Path.of("/home/me/.lockstep"));
  }

  @Test
  void everyFlagHasAVariable() {
    ServerConfig config =
        of(
            null,
            null,
            null,
            null,
            Map.of(
                "LOCKSTEP_PORT", "1234",
                "LOCKSTEP_DATA", "/srv/lockstep",
                "LOCKSTEP_DATABASE_URL", "jdbc:postgresql://db/shop?password=secret"));
    assertThat(config.port()).isEqualTo(1234);
    assertThat(config.data()).isEqualTo(Path.of("/srv/lockstep"));
    assertThat(config.externalDatabase()).map(DatabaseAddress::place).hasValue("db/shop");
  }

  @Test
  void newJobsAreListenedForUnlessAPoolerIsInTheWay() {
    assertThat(of(null, null, null, null, NOTHING).listen()).isTrue();
    assertThat(of(null, null, null, null, Map.of("LOCKSTEP_LISTEN", "false")).listen()).isFalse();
  }

  @Test
  void deliveriesAreSignedWithGoodSecretsAndStayOutsideUnlessTold() {
    String good = "0123456789abcdef0123456789abcdef";
    DeliverySettings settings =
        deliveries(
            Map.of(
                "LOCKSTEP_WEBHOOK_SECRET",
                good + "," + good.toUpperCase(Locale.ROOT),
                "LOCKSTEP_ALLOW_PRIVATE_TARGETS",
                "true"));
    assertThat(settings.signingKeys()).hasSize(2);
    assertThat(settings.toString()).doesNotContain(good);
    assertThat(settings.outgoing().allowPrivateTargets()).isTrue();
    assertThat(deliveries(NOTHING).outgoing().allowPrivateTargets()).isFalse();
    assertThat(deliveries(NOTHING).signingKeys()).isEmpty();
    for (String bad : List.of("short", good + ",", good + ",short", good + " ")) {
      assertThatThrownBy(() -> deliveries(Map.of("LOCKSTEP_WEBHOOK_SECRET", bad)))
          .isInstanceOf(WrongSettings.class)
          .hasMessageContaining("LOCKSTEP_WEBHOOK_SECRET")
          .hasMessageNotContaining(bad);
    }
    assertThatThrownBy(() -> deliveries(Map.of("LOCKSTEP_ALLOW_PRIVATE_TARGETS", "yes")))
        .isInstanceOf(WrongSettings.class);
  }

  private static DeliverySettings deliveries(Map<String, String> environment) {
    return of(null, null, null, null, environment).deliveries();
  }

  @Test
  void aFlagWinsOverItsVariable() {
    assertThat(of(null, "0", null, null, Map.of("LOCKSTEP_PORT", "1234")).port()).isZero();
  }

  @Test
  void anEmptyVariableCountsAsUnsetButAnEmptyFlagIsAMistake() {
    assertThat(of(null, null, null, null, Map.of("LOCKSTEP_PORT", "")).port()).isEqualTo(8080);
    assertThatThrownBy(() -> of(null, null, "", null, NOTHING))
        .isInstanceOf(WrongSettings.class)
        .hasMessageContaining("--data needs a value");
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "65536", "http", "8080 ", "99999999999"})
  void aPortThatIsNoneIsRefusedUnderTheNameItWasGiven(String port) {
    assertThatThrownBy(() -> of(null, port, null, null, NOTHING))
        .isInstanceOf(WrongSettings.class)
        .hasMessageContainingAll("--port", port);
    assertThatThrownBy(() -> of(null, null, null, null, Map.of("LOCKSTEP_PORT", port)))
        .isInstanceOf(WrongSettings.class)
        .hasMessageContainingAll("LOCKSTEP_PORT", port);
  }

  @Test
  void noPasswordIsPrinted() {
    ServerConfig config =
        of(null, null, null, "jdbc:postgresql://db/shop?user=me&password=secret", NOTHING);
    assertThat(config.toString()).contains("db/shop").doesNotContain("secret");
  }

  @Test
  void onlyAnOperatorWithAGoodKeyMayListenWhereOthersReach() {
    Map<String, String> weak = Map.of("LOCKSTEP_OPERATOR_KEY", "short");
    Map<String, String> good = Map.of("LOCKSTEP_OPERATOR_KEY", "sixteen-letters!");
    assertThat(of(null, null, null, null, NOTHING).host()).isEqualTo("127.0.0.1");
    assertThat(of("localhost", null, null, null, NOTHING).host()).isEqualTo("localhost");
    for (Map<String, String> environment : List.of(NOTHING, weak)) {
      assertThatThrownBy(() -> of("0.0.0.0", null, null, null, environment))
          .isInstanceOf(WrongSettings.class)
          .hasMessageContainingAll("--host 0.0.0.0", "LOCKSTEP_OPERATOR_KEY");
    }
    assertThat(of("0.0.0.0", null, null, null, good).host()).isEqualTo("0.0.0.0");
  }

  @Test
  void theOperatorKeyIsNotPrinted() {
    Map<String, String> environment = Map.of("LOCKSTEP_OPERATOR_KEY", "a-secret-of-the-operator");
    ServerConfig config = of(null, null, null, null, environment);
    assertThat(config.operatorKey()).isPresent();
    assertThat(config.toString()).doesNotContain("a-secret-of-the-operator");
  }

  @Test
  void samplesAreWantedUnlessRefused() {
    assertThat(of(null, null, null, null, NOTHING).samples()).isTrue();
    assertThat(of(null, null, null, null, Map.of("LOCKSTEP_SAMPLES", "false")).samples()).isFalse();
    assertThatThrownBy(() -> of(null, null, null, null, Map.of("LOCKSTEP_SAMPLES", "no")))
        .isInstanceOf(WrongSettings.class);
  }

  @Test
  void visitorsAreLetInWhereTheDatabaseIsOurOwnUnlessToldOtherwise() {
    String url = "jdbc:postgresql://db/shop";
    assertThat(of(null, null, null, null, NOTHING).visitors()).isTrue();
    assertThat(of(null, null, null, url, NOTHING).visitors()).isFalse();
    Map<String, String> on = Map.of("LOCKSTEP_VISITORS", "true");
    Map<String, String> off = Map.of("LOCKSTEP_VISITORS", "false");
    assertThat(of(null, null, null, url, on).visitors()).isTrue();
    assertThat(of(null, null, null, null, off).visitors()).isFalse();
  }

  @Test
  void theLabPlaysWhereTheDatabaseIsOurOwnUnlessToldOtherwise() {
    String url = "jdbc:postgresql://db/shop";
    assertThat(of(null, null, null, null, NOTHING).lab()).isTrue();
    assertThat(of(null, null, null, url, NOTHING).lab()).isFalse();
    Map<String, String> on = Map.of("LOCKSTEP_LAB", "true");
    Map<String, String> off = Map.of("LOCKSTEP_LAB", "false");
    assertThat(of(null, null, null, url, on).lab()).isTrue();
    assertThat(of(null, null, null, null, off).lab()).isFalse();
  }

  @Test
  void brokersAreHostsWithPorts() {
    Map<String, String> two = Map.of("LOCKSTEP_KAFKA_BOOTSTRAP", "a:9092,b.example:9093");
    assertThat(of(null, null, null, null, two).kafka()).hasValue("a:9092,b.example:9093");
    assertThat(of(null, null, null, null, NOTHING).kafka()).isEmpty();
    Map<String, String> wrong = Map.of("LOCKSTEP_KAFKA_BOOTSTRAP", "a");
    assertThatThrownBy(() -> of(null, null, null, null, wrong))
        .isInstanceOf(WrongSettings.class)
        .hasMessage(
            "LOCKSTEP_KAFKA_BOOTSTRAP must be host:port, several with commas between, not 'a'");
  }

  @Test
  void theBuiltInGatewayCanBeToldToMisbehaveButNotStripe() {
    Map<String, String> slow = Map.of("LOCKSTEP_GATEWAY_FAULTS", "{\"latencyMs\":50}");
    assertThat(of(null, null, null, null, slow).payments().faults().latency())
        .isEqualTo(Duration.ofMillis(50));
    assertThat(of(null, null, null, null, NOTHING).payments().faults())
        .isEqualTo(GatewayFaults.NONE);
    assertThatThrownBy(
            () -> of(null, null, null, null, Map.of("LOCKSTEP_GATEWAY_FAULTS", "{\"slow\":1}")))
        .isInstanceOf(WrongSettings.class)
        .hasMessage("LOCKSTEP_GATEWAY_FAULTS is refused: unknown fault: slow");
    Map<String, String> stripe = new HashMap<>(slow);
    stripe.put("LOCKSTEP_STRIPE_KEY", "sk_test_1");
    assertThatThrownBy(() -> of(null, null, null, null, stripe).payments())
        .isInstanceOf(WrongSettings.class)
        .hasMessageContaining("which LOCKSTEP_STRIPE_KEY replaces");
  }
}
