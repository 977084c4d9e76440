package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The lab on the command line. */
@Timeout(120)
class LabCommandTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  @Test
  void theCatalogueIsListed() {
    Ended ended = Ended.word("lab", "list");
    assertThat(ended.code()).isZero();
    assertThat(ended.out())
        .contains("Selling the last one\n  last-unit            The last unit, sold twice\n")
        .contains("  g2-item              G2-item: write skew\n");
    JsonObject json = new JsonObject(Ended.word("lab", "list", "--json").out());
    assertThat(json.getJsonArray("items").size()).isGreaterThan(25);
  }

  /** On a PostgreSQL that is started for it and gone afterwards. */
  @Test
  void aScenarioIsPlayedWithoutAnyServer() {
    Ended ended = Ended.word("lab", "run", "limit-two-tabs");
    assertThat(ended.err()).isEmpty();
    assertThat(ended.code()).isZero();
    assertThat(ended.out())
        .contains("Tab 1", "Tab 2", "It happened. Ann has 3 of at most 2.")
        .contains(
            "./lockstep lab run limit-two-tabs --isolation read-committed --variant lockstep");
  }

  @Test
  void aScenarioIsPlayedOnADatabaseOfTheUsers() {
    String where = database.url() + "?user=" + database.user() + "&password=" + database.password();
    Ended ended =
        Ended.word(
            "lab",
            "run",
            "p4",
            "--isolation",
            "serializable",
            "--variant",
            "lockstep",
            "--json",
            "--database-url",
            where);
    assertThat(ended.code()).isZero();
    JsonObject timeline = new JsonObject(ended.out());
    assertThat(timeline.getString("isolation")).isEqualTo("serializable");
    assertThat(timeline.getJsonObject("verdict").getBoolean("anomaly")).isFalse();
    assertThat(
            database.queryLong("SELECT count(*) FROM pg_roles WHERE rolname LIKE 'lockstep_lab_%'"))
        .isZero();
  }

  @Test
  void aDatabaseThatIsNotThereIsSaidInOneLine() {
    Ended ended =
        Ended.word(
            "lab",
            "run",
            "p4",
            "--database-url",
            "jdbc:postgresql://localhost:1/x?password=secret");
    assertThat(ended.code()).isEqualTo(1);
    assertThat(ended.out()).isEmpty();
    assertThat(ended.err())
        .startsWith("lockstep: the lab ")
        .hasLineCount(1)
        .doesNotContain("secret");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "play",
        "run",
        "run no-such-scenario",
        "run p4 --isolation chaos",
        "run p4 --variant clever",
        "run p4 --database-url mysql://x",
        "list --frobnicate"
      })
  void wrongUseIsRefused(String arguments) {
    List<String> all = new ArrayList<>(List.of("lab"));
    if (!arguments.isEmpty()) {
      all.addAll(List.of(arguments.split(" ", -1)));
    }
    Ended ended = Ended.word(all.toArray(String[]::new));
    assertThat(ended.code()).isEqualTo(2);
    assertThat(ended.out()).isEmpty();
    assertThat(ended.err()).startsWith("lockstep: ").hasLineCount(1);
  }
}
