package dev.lockstep.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.database.DatabaseAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StatusPageTest {
  @ParameterizedTest
  @CsvSource({
    "PT0.9S,0 s",
    "PT59S,59 s",
    "PT61S,1 min 1 s",
    "PT3H4M5S,3 h 4 min",
    "P3DT5H,3 d 5 h"
  })
  void anAgeNamesItsTwoLargestUnits(Duration age, String text) {
    assertThat(StatusPage.age(age)).isEqualTo(text);
  }

  @Test
  void whatTheDatabaseIsCalledCannotBecomeMarkup() {
    DatabaseAddress address =
        DatabaseAddress.external("--database-url", "jdbc:postgresql://db/<script>'\"&");
    Readiness readiness =
        new Readiness(
            false, "The database does not answer.", Optional.of(address), Optional.empty());
    assertThat(StatusPage.render("1", Instant.now(), readiness))
        .contains("&lt;script&gt;&#39;&quot;&amp;")
        .doesNotContain("<script");
  }

  @Test
  void whatIsWrongWithTheWorkerIsShown() {
    Readiness ready = new Readiness(true, "Ready.", Optional.empty(), Optional.empty());

    assertThat(
            StatusPage.render(
                "1", Instant.now(), ready, Map.of("Jobs", List.of("job-reader has ended"))))
        .contains("job-reader has ended");
    assertThat(StatusPage.render("1", Instant.now(), ready, Map.of("Streams", List.of())))
        .contains("running");
  }
}
