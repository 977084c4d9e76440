package dev.lockstep.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.server.mail.SmtpConfig;
import dev.lockstep.server.mail.SmtpConfig.Tls;
import dev.lockstep.server.setting.Sources;
import dev.lockstep.server.setting.WrongSettings;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SmtpSettingsTest {
  private static final Map<String, String> LEAST =
      Map.of("LOCKSTEP_SMTP_HOST", "mail.example.com", "LOCKSTEP_SMTP_FROM", "shop@example.com");

  @Test
  void withoutAHostThereIsNoMail() {
    assertThat(read(Map.of("LOCKSTEP_SMTP_FROM", "shop@example.com"))).isEmpty();
  }

  @Test
  void mailIsEncryptedUnlessToldAndThePasswordIsHidden() {
    SmtpConfig least = read(LEAST).orElseThrow();
    assertThat(least.tls()).isEqualTo(Tls.STARTTLS);
    assertThat(least.port()).isEqualTo(587);
    assertThat(least.login()).isEmpty();
    assertThat(with("LOCKSTEP_SMTP_TLS", "tls").port()).isEqualTo(465);
    SmtpConfig all =
        read(Map.of(
                "LOCKSTEP_SMTP_HOST", "h",
                "LOCKSTEP_SMTP_PORT", "2525",
                "LOCKSTEP_SMTP_TLS", "none",
                "LOCKSTEP_SMTP_USER", "shop",
                "LOCKSTEP_SMTP_PASSWORD", "a very good password",
                "LOCKSTEP_SMTP_FROM", "The shop <shop@example.com>"))
            .orElseThrow();
    assertThat(all.port()).isEqualTo(2_525);
    assertThat(all.login().orElseThrow().user()).isEqualTo("shop");
    assertThat(all.toString()).doesNotContain("good password");
  }

  @ParameterizedTest
  @CsvSource({
    "LOCKSTEP_SMTP_FROM, ''",
    "LOCKSTEP_SMTP_FROM, shop",
    "LOCKSTEP_SMTP_PORT, 0",
    "LOCKSTEP_SMTP_PORT, 70000",
    "LOCKSTEP_SMTP_PORT, x",
    "LOCKSTEP_SMTP_TLS, yes",
    "LOCKSTEP_SMTP_USER, shop",
    "LOCKSTEP_SMTP_PASSWORD, secret"
  })
  void whatMakesNoSenseIsNamed(String name, String value) {
    assertThatThrownBy(() -> with(name, value))
        .isInstanceOf(WrongSettings.class)
        .satisfies(
            thrown ->
                assertThat(thrown.getMessage())
                    .containsAnyOf(
                        name,
                        name.substring("LOCKSTEP_".length())
                            .toLowerCase(Locale.ROOT)
                            .replace('_', '.')));
  }

  private static SmtpConfig with(String name, String value) {
    Map<String, String> environment = new HashMap<>(LEAST);
    environment.put(name, value);
    return read(environment).orElseThrow();
  }

  private static Optional<SmtpConfig> read(Map<String, String> environment) {
    Map<String, String> all = new HashMap<>(environment);
    all.put("HOME", "/home/somebody");
    return ServerConfig.of(Sources.of(Map.of(), all)).deliveries().smtp();
  }
}
