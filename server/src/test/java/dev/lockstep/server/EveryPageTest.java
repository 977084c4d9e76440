package dev.lockstep.server;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.sku;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What holds for all pages, with names as long and hostile as they may be: nothing is cut off,
 * everything has a name, and the keyboard gets everywhere. That no page breaks its policy or logs
 * an error is checked after each test by {@link Chromium}.
 */
@Timeout(300)
class EveryPageTest {
  @RegisterExtension static final RunningServer server = RunningServer.forBrowsers();
  @RegisterExtension static final Chromium chromium = new Chromium();

  private static final List<String> CONSOLE =
      List.of(
          "overview",
          "campaigns",
          "holds",
          "purchases",
          "reconciliation",
          "accounts",
          "streams",
          "streams/sales",
          "invariants",
          "database",
          "queues",
          "jobs",
          "schedules",
          "keys");

  /** Controls and links that say nothing to who cannot see them. */
  private static final String NAMELESS =
      """
      () => [...document.querySelectorAll('input, select, textarea, button, a[href], [role=img], dialog')]
        .filter((one) => one.checkVisibility())
        .filter((one) => !(one.labels?.length || one.getAttribute('aria-label')
          || one.getAttribute('aria-labelledby') || one.textContent.trim()))
        .map((one) => one.outerHTML)
      """;

  /** Names in tables that are broken in the middle; only what people wrote may be. */
  private static final String BROKEN =
      """
      () => [...document.querySelectorAll('td:not(.name) code')]
        .filter((one) => one.checkVisibility() && one.getClientRects().length > 1)
        .map((one) => one.outerHTML)
      """;

  private static final String OVERHANG =
      "() => document.documentElement.scrollWidth - document.documentElement.clientWidth";

  @ParameterizedTest
  @CsvSource({"390,DARK", "390,LIGHT", "1280,LIGHT"})
  void nothingIsCutOffAndEverythingHasAName(int width, ColorScheme scheme) throws Exception {
    String wide = server.published(ShopPageTest.dropOfManyWords());
    String triangle = server.triangle(50, 3);
    server
        .service()
        .post("/v1/campaigns/" + wide + "/holds", "w", cart("b".repeat(128), sku("LONG-1", 1)))
        .expect(201);
    Page page = chromium.person(width, 844, scheme);
    List<String> places = new ArrayList<>(List.of("/", "/docs", "/status", "/console"));
    for (String id : List.of(wide, triangle)) {
      places.add("/shop/" + id);
    }
    places.add("/shop/" + triangle + "/draw");
    places.addAll(List.of("/lab", "/lab/matrix", "/lab/double-send?isolation=serializable"));
    for (String place : places) {
      page.navigate(server.url() + place);
      check(page, place);
    }
    page.navigate(server.url() + "/console");
    page.getByLabel("Operator key").fill(RunningServer.OPERATOR_KEY);
    page.getByRole(AriaRole.BUTTON, named("Sign in")).click();
    List<String> parts = new ArrayList<>(CONSOLE);
    parts.add("campaigns/" + wide);
    parts.add("schedules/" + scheduleOfManyWords());
    parts.add("jobs/" + aJob());
    for (String part : parts) {
      page.navigate(server.url() + "/console#/" + part);
      assertThat(page.locator("nav.tabs a[aria-current]")).hasCount(1);
      check(page, part);
    }
    page.navigate(server.url() + "/console#/campaigns");
    page.getByRole(AriaRole.BUTTON, named("New campaign")).click();
    check(page, "the dialog of a new campaign");
    page.keyboard().press("Escape");
    page.navigate(server.url() + "/console#/schedules");
    page.getByRole(AriaRole.BUTTON, named("New schedule")).click();
    check(page, "the dialog of a new schedule");
  }

  private static String scheduleOfManyWords() throws Exception {
    JsonObject schedule =
        new JsonObject()
            .put("name", "w".repeat(200))
            .put("when", new JsonObject().put("cron", "0 * * * *").put("zone", "Asia/Tokyo"))
            .put(
                "deliver",
                new JsonObject()
                    .put("webhook", "https://long.invalid/" + "a".repeat(200))
                    .put("body", new JsonObject().put("long", "b".repeat(500))));
    return server.operator().post("/v1/schedules", schedule).expect(201).getString("id");
  }

  private static String aJob() throws Exception {
    return server
        .operator()
        .get("/v1/jobs?queue=upkeep&limit=1")
        .expect(200)
        .getJsonArray("items")
        .getJsonObject(0)
        .getString("id");
  }

  private static void check(Page page, String place) {
    assertThat(page.locator("main h1")).hasCount(1);
    assertThat(page.locator("[aria-busy=true]")).hasCount(0);
    Assertions.assertThat(page.evaluate(OVERHANG)).as("%s scrolls sideways", place).isEqualTo(0);
    Assertions.assertThat((List<?>) page.evaluate(NAMELESS)).as(place).isEmpty();
    Assertions.assertThat((List<?>) page.evaluate(BROKEN)).as(place).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"triangle", "drop", "console"})
  void theKeyboardGetsEverywhereAndShowsWhereItIs(String kind) throws Exception {
    Page page = chromium.person();
    if (kind.equals("console")) {
      server.service();
      page.navigate(server.url() + "/console#/keys");
      page.getByLabel("Operator key").fill(RunningServer.OPERATOR_KEY);
      page.keyboard().press("Enter");
      assertThat(page.locator("h1")).hasText("Keys");
      // The focus went to the content; a reload begins at the top.
      page.reload();
      assertThat(page.getByRole(AriaRole.REGION, named("Keys"))).isVisible();
    } else {
      String id = kind.equals("triangle") ? server.triangle(4, null) : server.drop(5, null);
      page.navigate(server.url() + "/shop/" + id);
      assertThat(page.getByRole(AriaRole.BUTTON, named("Hold"))).isVisible();
    }
    Object all =
        page.evaluate(
            """
            () => [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
              .filter((one) => one.checkVisibility()).map((one, i) => { one.dataset.stop = i; return String(i); })
            """);
    Set<String> reached = new LinkedHashSet<>();
    int most = ((List<?>) all).size() + 5;
    for (int i = 0; i < most; i++) {
      page.keyboard().press("Tab");
      Object stop = page.evaluate("() => document.activeElement.dataset.stop ?? ''");
      if (!stop.equals("")) {
        reached.add(stop.toString());
        Assertions.assertThat(
                page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle"))
            .as("focus on %s", page.evaluate("() => document.activeElement.outerHTML"))
            .isEqualTo("solid");
      }
    }
    // In the order in which they are read, and without a trap.
    Assertions.assertThat(List.copyOf(reached)).isEqualTo(all);
  }

  private static Page.GetByRoleOptions named(String name) {
    return new Page.GetByRoleOptions().setName(name);
  }
}
