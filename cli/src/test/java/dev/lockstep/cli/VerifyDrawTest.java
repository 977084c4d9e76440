package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.lockstep.server.Repository;
import io.vertx.core.json.JsonObject;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code verify-draw}, as a user calls it. */
@Timeout(60)
class VerifyDrawTest {
  private static final Path EXAMPLE = Repository.root().resolve("docs/draw-example.json");
  private static final String OTHER_HEX = "0f".repeat(32);

  @SuppressWarnings("NullAway.Init")
  @TempDir
  Path folder;

  @Test
  void theExampleOfTheDocumentIsVerified() {
    Ended ended = run(EXAMPLE.toString());
    assertThat(ended.code()).isZero();
    assertThat(ended.err()).isEmpty();
    assertThat(ended.out())
        .startsWith("Draw of campaign 7: 6 entrants, 3 winners\n")
        .contains("Verified")
        .doesNotContain("DIFFERS");
  }

  @Test
  void theVerdictIsAlsoThereForPrograms() {
    JsonObject verdict = new JsonObject(run("--json", EXAMPLE.toString()).out());
    assertThat(verdict.getBoolean("ok")).isTrue();
    assertThat(verdict.getJsonArray("checks")).hasSize(5);
  }

  static Stream<Arguments> tampered() {
    return Stream.of(
        one("seed", d -> d.put("seed", OTHER_HEX), "the SHA-256 of the seed is"),
        one("seed", d -> d.put("commitment", OTHER_HEX), "the commitment is " + OTHER_HEX),
        one(
            "entrants",
            d -> d.put("entrantsHash", OTHER_HEX),
            "the published hash is " + OTHER_HEX),
        one("entrants", d -> entrant(d, 3).put("purchase", "p-9"), "the SHA-256 of the list is"),
        one("entrants", d -> d.getJsonArray("entrants").remove(5), "the SHA-256 of the list is"),
        one(
            "positions",
            d -> d.getJsonArray("entrants").add(entrant(d, 0).copy().put("purchase", "p-9")),
            "layer 1, row 1, column 1 (purchase p-9) is there twice"),
        one(
            "positions",
            d -> entrant(d, 0).getJsonObject("position").put("column", 2),
            "outside of any triangle"),
        one(
            "winners",
            d -> d.getJsonArray("winners").getJsonObject(0).put("purchase", "p-1"),
            "place 1: computed 'Grand prize' for layer 3, row 3, column 3 (purchase p-6), published"),
        one(
            "winners",
            d -> d.getJsonArray("winners").getJsonObject(2).put("prize", "Grand prize"),
            "place 3: computed 'Runner-up'"),
        one(
            "winners",
            d -> d.getJsonArray("winners").remove(2),
            "place 3: computed 'Runner-up' for"),
        one(
            "winners",
            d -> d.getJsonArray("prizes").getJsonObject(1).put("quantity", 1),
            "place 3: computed nobody"),
        one("winners", d -> d.put("beacon", OTHER_HEX), "place 1: computed"),
        one("algorithm", d -> d.put("algorithm", "dice"), "'dice' is not known here"),
        one("document", d -> d.put("status", "pending"), "'pending'"),
        one("document", d -> d.remove("seed"), "'seed' is missing"),
        one("document", d -> d.put("entrants", 6), "'entrants' is not a list"));
  }

  @ParameterizedTest(name = "{0}: {2}")
  @MethodSource("tampered")
  void aTamperedDocumentIsRefusedWithWhatDiffers(
      String what, Consumer<JsonObject> change, String detail) throws Exception {
    JsonObject document = new JsonObject(Files.readString(EXAMPLE));
    change.accept(document);
    Path file = Files.writeString(folder.resolve("draw.json"), document.encode());
    Ended ended = run(file.toString());
    assertThat(ended.code()).isEqualTo(1);
    assertThat(ended.out())
        .containsPattern("DIFFERS +" + what + " ")
        .contains(detail)
        .contains("Refused")
        .doesNotContain("Verified");
  }

  /** A mistake that both made alike would be no mistake to either. */
  @Test
  void whatVerifiesSharesNoCodeWithWhatDraws() throws Exception {
    Path sources = Repository.root().resolve("server/src/main/java/dev/lockstep/server/verify");
    try (Stream<Path> files = Files.list(sources)) {
      assertThat(files.toList())
          .isNotEmpty()
          .allSatisfy(
              file ->
                  assertThat(Files.readAllLines(file))
                      .filteredOn(line -> line.matches("import (static )?dev\\.lockstep\\..*"))
                      .allMatch(line -> line.contains("dev.lockstep.server.verify.")));
    }
  }

  @Test
  void aTextThatIsNoDocumentIsRefused() throws Exception {
    Path file = Files.writeString(folder.resolve("draw.json"), "<html>");
    assertThat(run(file.toString()).code()).isEqualTo(1);
  }

  @Test
  void theCommitmentNotedBeforeTheDrawIsCompared() {
    String noted = "72dbb7336c76780023f83da4c355f2eeea85733b13d3477697917790c1229084";
    assertThat(run("--commitment", noted, EXAMPLE.toString()).code()).isZero();
    Ended other = run("--commitment", OTHER_HEX, EXAMPLE.toString());
    assertThat(other.code()).isEqualTo(1);
    assertThat(other.out()).containsPattern("DIFFERS +commitment ");
  }

  @Test
  void aDocumentCanBeFetched() throws Exception {
    byte[] example = Files.readAllBytes(EXAMPLE);
    HttpServer http =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.createContext(
        "/",
        exchange -> {
          boolean found = exchange.getRequestURI().getPath().equals("/draw");
          exchange.sendResponseHeaders(found ? 200 : 404, found ? example.length : -1);
          if (found) {
            exchange.getResponseBody().write(example);
          }
          exchange.close();
        });
    http.start();
    String url = "http://localhost:" + http.getAddress().getPort();
    try {
      assertThat(run(url + "/draw").code()).isZero();
      Ended missing = run(url + "/nothing");
      assertThat(missing.code()).isEqualTo(1);
      assertThat(missing.err()).contains("status 404");
    } finally {
      http.stop(0);
    }
    assertThat(run(url + "/draw")).matches(gone -> gone.code() == 1 && !gone.err().isEmpty());
  }

  @ParameterizedTest
  @ValueSource(strings = {"file:///etc/hostname", "ftp://example.org/draw", "no-such-file.json"})
  void onlyFilesThatAreThereAndHttpAreRightUse(String source) {
    Ended ended = run(source);
    assertThat(ended.code()).isEqualTo(2);
    assertThat(ended.err()).startsWith("lockstep: ").hasLineCount(1);
  }

  @Test
  void anythingElseIsWrongUse() {
    assertThat(run().code()).isEqualTo(2);
    assertThat(run("a", "b").code()).isEqualTo(2);
    assertThat(run("--commitment", "abc", EXAMPLE.toString()).code()).isEqualTo(2);
    assertThat(run("--frobnicate", EXAMPLE.toString()).code()).isEqualTo(2);
  }

  private static Arguments one(String what, Consumer<JsonObject> change, String detail) {
    return Arguments.of(what, change, detail);
  }

  private static JsonObject entrant(JsonObject document, int index) {
    return document.getJsonArray("entrants").getJsonObject(index);
  }

  private static Ended run(String... arguments) {
    return Ended.word(
        Stream.concat(Stream.of("verify-draw"), Stream.of(arguments)).toArray(String[]::new));
  }
}
