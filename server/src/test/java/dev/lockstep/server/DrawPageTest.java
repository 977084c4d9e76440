package dev.lockstep.server;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.AriaRole;
import dev.lockstep.hold.HoldId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The page of a draw recomputes it in the browser, and sees what was changed. */
@Timeout(300)
class DrawPageTest {
  @RegisterExtension static final RunningServer server = RunningServer.forBrowsers();
  @RegisterExtension static final Chromium chromium = new Chromium();

  @Test
  void aDrawAppearsWhenTheLastPositionIsSoldAndVerifiesInThePage() throws Exception {
    String id =
        server.published(
            new JsonObject()
                .put("kind", "triangle")
                .put("name", "A lottery")
                .put("currency", "JPY")
                .put("baseLength", 4)
                .put("price", 500)
                .put("prizes", new JsonArray().add(prize("A bicycle", 1)).add(prize("A bell", 3))));
    Page page = chromium.person();
    page.navigate(server.url() + "/shop/" + id + "/draw");
    assertThat(page.locator("main")).containsText("Note this down");
    String fingerprint = page.locator(".secret").textContent();
    try (DrawNode node =
        new DrawNode(server.database().dataSource(), DrawNode.EVERY_SALE, Optional.empty())) {
      List<HoldId> taken = node.holdAll(id, 4);
      taken.forEach(hold -> node.confirm(id, hold));
    }
    // Without a reload.
    assertThat(page.getByRole(AriaRole.REGION, named("Winners")).locator("tbody tr")).hasCount(4);
    assertThat(page.getByLabel("Fingerprint from before the draw")).hasValue(fingerprint);
    page.getByRole(AriaRole.BUTTON, named("Verify in this browser")).click();
    assertThat(page.locator(".notice.good")).containsText("Verified");
    assertThat(page.locator(".steps li.well")).hasCount(7);

    page.getByLabel("Fingerprint from before the draw").fill("0".repeat(64));
    page.getByRole(AriaRole.BUTTON, named("Verify in this browser")).click();
    assertThat(page.locator(".steps li.unwell")).containsText("noted down");
  }

  @Test
  void thePublishedTestVectorVerifies() throws Exception {
    Page page = withDocument(document -> {});
    verify(page);
    assertThat(page.locator(".notice.good")).containsText("Verified");
  }

  static Stream<Arguments> changes() {
    return Stream.of(
        Arguments.of(
            "matches the commitment", (Consumer<JsonObject>) d -> d.put("seed", "00".repeat(32))),
        Arguments.of(
            "frozen",
            (Consumer<JsonObject>)
                d -> d.getJsonArray("entrants").getJsonObject(2).put("purchase", "p-9")),
        Arguments.of(
            "twice",
            (Consumer<JsonObject>)
                d ->
                    d.getJsonArray("entrants")
                        .getJsonObject(2)
                        .put(
                            "position",
                            d.getJsonArray("entrants")
                                .getJsonObject(1)
                                .getJsonObject("position")
                                .copy())),
        Arguments.of(
            "lowest scores",
            (Consumer<JsonObject>)
                d -> d.getJsonArray("winners").getJsonObject(1).put("purchase", "p-4")),
        Arguments.of(
            "lowest scores", (Consumer<JsonObject>) d -> d.getJsonArray("winners").remove(2)),
        Arguments.of("lowest scores", (Consumer<JsonObject>) d -> d.put("beacon", "ff".repeat(32))),
        Arguments.of("32 bytes", (Consumer<JsonObject>) d -> d.put("entrantsHash", "b20f")),
        Arguments.of("knows", (Consumer<JsonObject>) d -> d.put("algorithm", "another")));
  }

  @ParameterizedTest(name = "{index}: {0}")
  @MethodSource("changes")
  void whatWasChangedIsSeenAndNamed(String step, Consumer<JsonObject> change) throws Exception {
    Page page = withDocument(change);
    verify(page);
    assertThat(page.locator(".notice.bad")).containsText("does not verify");
    assertThat(page.locator(".steps li.unwell")).hasCount(1);
    assertThat(page.locator(".steps li.unwell")).containsText(step);
  }

  /** The page with the example of the documents instead of the server's own answer. */
  private static Page withDocument(Consumer<JsonObject> change) throws Exception {
    JsonObject document =
        new JsonObject(
            Files.readString(Repository.root().resolve("docs").resolve("draw-example.json")));
    change.accept(document);
    String id = server.triangle(3, null);
    Page page = chromium.person();
    page.route(
        "**/v1/campaigns/" + id + "/draw",
        route ->
            route.fulfill(
                new Route.FulfillOptions()
                    .setContentType("application/json")
                    .setBody(document.encode())));
    page.navigate(server.url() + "/shop/" + id + "/draw");
    return page;
  }

  private static void verify(Page page) {
    Locator noted = page.getByLabel("Fingerprint from before the draw");
    noted.fill("");
    page.getByRole(AriaRole.BUTTON, named("Verify in this browser")).click();
  }

  private static JsonObject prize(String name, int quantity) {
    return new JsonObject().put("name", name).put("quantity", quantity);
  }

  private static Page.GetByRoleOptions named(String name) {
    return new Page.GetByRoleOptions().setName(name);
  }
}
