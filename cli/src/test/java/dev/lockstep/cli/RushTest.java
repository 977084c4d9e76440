package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.RunningServer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code rush} against a real server, over real HTTP, with the built-in payments. */
@Timeout(120)
class RushTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  @Test
  void aTriangleIsSoldOutProvedAndDrawn() throws Exception {
    String campaign =
        server.published(
            new JsonObject()
                .put("kind", "triangle")
                .put("name", "A triangle")
                .put("currency", "JPY")
                .put("baseLength", 5)
                .put("price", 500)
                .put(
                    "prizes",
                    new JsonArray().add(new JsonObject().put("name", "Car").put("quantity", 1))));

    Ended ended = rush("--campaign", campaign, "--buyers", "40", "--at-once", "20");

    assertThat(ended.out()).contains("The proof holds.").doesNotContain("FAILED");
    assertThat(ended.code()).isZero();
    assertThat(ended.err()).isEmpty();
    assertThat(server.anyone().get("/v1/campaigns/" + campaign).expect(200).getString("status"))
        .isEqualTo("drawn");
  }

  @Test
  void theNumbersAreAlsoThereForPrograms() throws Exception {
    String campaign = server.drop(7, null);
    Ended ended = rush("--campaign", campaign, "--buyers", "20", "--at-once", "10", "--json");
    JsonObject report = new JsonObject(ended.out());
    assertThat(ended.code()).isZero();
    assertThat(report.getBoolean("ok")).isTrue();
    assertThat(report.getInteger("asked")).isEqualTo(20);
    assertThat(report.getInteger("sold")).isEqualTo(7);
    assertThat(report.getJsonObject("refused")).isEqualTo(new JsonObject().put("sold-out", 13));
    assertThat(report.getDouble("p50Ms")).isPositive();
    assertThat(report.getDouble("p99Ms")).isGreaterThanOrEqualTo(report.getDouble("p50Ms"));
  }

  @Test
  void withoutACampaignTheFirstWithSomethingForSaleIsTaken() throws Exception {
    server.drop(3, null);
    Ended ended = rush("--buyers", "1", "--json");
    assertThat(ended.code()).isZero();
    assertThat(new JsonObject(ended.out()).getInteger("sold")).isEqualTo(1);
  }

  /** The proof compares several records, so a book that was cooked does not pass. */
  @Test
  void cookedBooksFailTheProof() throws Exception {
    String campaign = server.drop(10, null);
    assertThat(rush("--campaign", campaign, "--buyers", "2").code()).isZero();
    String purchases =
        "UPDATE lockstep_server.purchase SET status = %d WHERE campaign = " + campaign;
    server.database().execute(purchases.formatted(3));
    Ended unpaid = rush("--campaign", campaign, "--buyers", "1");
    server.database().execute(purchases.formatted(2));

    String other = server.drop(10, null);
    String stock = "UPDATE lockstep.pool SET sold = sold %s 1 WHERE scope = " + other;
    server.database().execute(stock.formatted("+"));
    Ended broken = rush("--campaign", campaign, "--buyers", "1");
    server.database().execute(stock.formatted("-"));

    assertThat(List.of(unpaid.code(), broken.code())).containsOnly(1);
    assertThat(unpaid.out())
        .containsPattern("charged = sold +1 = 3 +FAILED")
        .contains("The proof fails.");
    assertThat(broken.out()).containsPattern("invariants +broken +FAILED");
    assertThat(rush("--campaign", campaign, "--buyers", "1").code()).isZero();
  }

  @Test
  void whatCannotBeRunSaysWhyInOneLine() throws Exception {
    String empty = server.drop(0, null);
    for (Ended ended :
        List.of(
            rush("--campaign", empty),
            rush("--campaign", "999999999"),
            Ended.word("rush", "--url", server.url(), "--key", "lsk_nobody"),
            Ended.word("rush", "--url", "http://localhost:1", "--key", "k"))) {
      assertThat(ended.code()).isEqualTo(1);
      assertThat(ended.out()).isEmpty();
      assertThat(ended.err()).startsWith("lockstep: ").hasLineCount(1).doesNotContain("nobody");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--buyers 0",
        "--buyers 100001",
        "--buyers many",
        "--at-once 0",
        "--campaign x",
        "--url ftp://localhost",
        "--url localhost",
        "--frobnicate"
      })
  void wrongUseIsRefused(String arguments) {
    List<String> all = new ArrayList<>(List.of("rush", "--key", "k"));
    all.addAll(List.of(arguments.split(" ", -1)));
    Ended ended = Ended.word(all.toArray(String[]::new));
    assertThat(ended.code()).isEqualTo(2);
    assertThat(ended.err()).startsWith("lockstep: ").hasLineCount(1);
  }

  @ParameterizedTest
  @CsvSource({
    "rush --buyer 5, --buyers",
    "rush --jsn, --json",
    "lab matirx, matrix",
    "verify-draw x --comitment 0, --commitment"
  })
  void aMisspeltNameIsToldTheNearest(String words, String nearest) {
    Ended ended = Ended.word(words.split(" ", -1));
    assertThat(ended.code()).isEqualTo(2);
    assertThat(ended.err()).endsWith("; did you mean '" + nearest + "'?" + System.lineSeparator());
  }

  private static Ended rush(String... arguments) {
    List<String> all =
        new ArrayList<>(
            List.of("rush", "--url", server.url(), "--key", RunningServer.OPERATOR_KEY));
    all.addAll(List.of(arguments));
    return Ended.word(all.toArray(String[]::new));
  }
}
