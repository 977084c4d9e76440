package dev.lockstep.server;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.layer;
import static dev.lockstep.server.Client.sku;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.regex.Pattern;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The shop as people use it, in a browser. */
@Timeout(300)
class ShopPageTest {
  @RegisterExtension static final RunningServer server = RunningServer.forBrowsers();
  @RegisterExtension static final Chromium chromium = new Chromium();

  private static final String HOSTILE = "<img src=x onerror=\"alert(1)\"> & 'friends' <script>";

  @Test
  void theListLeadsToTheSaleAndANameIsNeverMarkup() throws Exception {
    String id = server.published(RunningServer.dropOf(5).put("name", HOSTILE));
    Page page = chromium.person();
    page.navigate(server.url() + "/");
    Locator card = page.getByRole(AriaRole.LISTITEM).filter(having(HOSTILE));
    assertThat(card).containsText("On sale");
    assertThat(card).containsText("5 free, 0 held, 0 sold of 5");
    card.getByRole(AriaRole.LINK).click();
    assertThat(page).hasURL(server.url() + "/shop/" + id);
    assertThat(page.locator("h1")).hasText(HOSTILE);
    assertThat(page.locator("main img")).hasCount(0);
  }

  @Test
  void aPositionTurnsHeldAndFreeAgainInASecondWindowWithoutReload() throws Exception {
    String id = server.triangle(4, null);
    Page buyer = open(id);
    Page other = open(id);
    assertThat(other.locator(".triangle .seat.free")).hasCount(10);

    layers(buyer).selectOption("3");
    buyer.getByRole(AriaRole.BUTTON, named("Hold a position")).click();
    assertThat(heading(buyer, "Held for you")).isFocused();
    assertThat(buyer.locator(".triangle .seat.held.mine")).hasCount(1);
    assertThat(other.locator(".triangle .seat.held")).hasCount(1);
    assertThat(other.locator(".triangle .seat.mine")).hasCount(0);
    assertThat(other.locator(".stock-words").first()).hasText("9 free, 1 held, 0 sold of 10");

    buyer.getByRole(AriaRole.BUTTON, named("Release")).click();
    assertThat(buyer.locator("#answer")).containsText("Released.");
    assertThat(other.locator(".triangle .seat.free")).hasCount(10);
  }

  @Test
  void whereRealCardsAreChargedThePageTakesNoneAndSaysWhereToPay() throws Exception {
    String id = server.triangle(3, null);
    try (Server live = server.startWithLiveKey()) {
      Page page = chromium.person();
      page.navigate(live.url() + "/shop/" + id);
      assertThat(page.locator(".panel")).containsText("Payment is taken elsewhere.");
      assertThat(page.locator(".panel button")).hasCount(0);
      assertThat(page.locator("body")).not().containsText("Test card");
      page.navigate("about:blank");
    }
  }

  @Test
  void aHoldCountsDownAndSurvivesAReload() throws Exception {
    Page page = open(server.triangle(3, null));
    page.getByRole(AriaRole.BUTTON, named("Hold a position")).click();
    assertThat(page.getByRole(AriaRole.TIMER)).hasText(Pattern.compile("1[45]:\\d\\d"));
    String place = page.locator(".panel .lines").textContent();
    page.reload();
    assertThat(heading(page, "Held for you")).isVisible();
    assertThat(page.locator(".panel .lines")).hasText(place);
    assertThat(page.getByRole(AriaRole.TIMER)).hasText(Pattern.compile("1[45]:\\d\\d"));
  }

  @Test
  void whoseTimeRunsOutIsToldAndCanChooseAgain() throws Exception {
    String id = server.published(RunningServer.dropOf(5).put("holdSeconds", 2));
    Page page = open(id);
    page.getByLabel("Thing").fill("1");
    page.getByRole(AriaRole.BUTTON, named("Hold my cart")).click();
    assertThat(page.locator("#answer")).containsText("Your time ran out");
    assertThat(page.getByRole(AriaRole.BUTTON, named("Hold my cart"))).isVisible();
  }

  @Test
  void refusalsAreToldInPlainWordsWithWhatToDoNext() throws Exception {
    String id = server.drop(3, 2);
    Page page = open(id);
    page.getByRole(AriaRole.BUTTON, named("Hold my cart")).click();
    assertThat(page.locator("#answer")).containsText("Your cart is empty.");

    // The page would not let somebody ask for more than the limit, but it does not have to know.
    page.getByLabel("Thing").fill("2");
    page.getByRole(AriaRole.BUTTON, named("Hold my cart")).click();
    assertThat(heading(page, "Held for you")).isVisible();
    Page again = page.context().newPage();
    again.navigate(server.url() + "/shop/" + id);
    assertThat(heading(again, "Held for you")).isVisible();
    server.service().post("/v1/campaigns/" + id + "/holds", "x", cart("b", sku("A", 1)));
    page.getByRole(AriaRole.BUTTON, named("Release")).click();
    assertThat(page.locator("#answer")).containsText("Released.");
    server.service().post("/v1/campaigns/" + id + "/holds", "y", cart("c", sku("A", 2)));
    page.getByLabel("Thing").fill("1");
    page.getByRole(AriaRole.BUTTON, named("Hold my cart")).click();
    assertThat(page.locator("#answer")).containsText("sold out");
    assertThat(page.locator("#answer")).containsText("Choose something else");
  }

  @Test
  void aBuyerAtTheLimitIsToldTheLimit() throws Exception {
    String id = server.triangle(4, 1);
    Page page = open(id);
    page.getByRole(AriaRole.BUTTON, named("Hold a position")).click();
    assertThat(heading(page, "Held for you")).isVisible();
    // The same buyer in a second tab that does not know of the hold.
    page.evaluate("localStorage.clear()");
    page.reload();
    page.getByRole(AriaRole.BUTTON, named("Hold a position")).click();
    assertThat(page.locator("#answer")).containsText("one buyer may have 1; you have 1");
  }

  @Test
  void fiftyLayersAreDrawnAndChangeInPlace() throws Exception {
    String id = server.triangle(50, null);
    Page page = open(id);
    assertThat(page.locator(".triangle .seat")).hasCount(1_275);
    page.evaluate("window.first = document.querySelector('.triangle .seat')");
    server
        .service()
        .post("/v1/campaigns/" + id + "/holds", "f", cart("b", layer(1, 1)))
        .expect(201);
    assertThat(page.locator(".triangle .seat.held")).hasCount(1);
    Assertions.assertThat(
            page.evaluate("window.first === document.querySelector('.triangle .seat.held')"))
        .isEqualTo(true);
    assertThat(page.locator(".triangle"))
        .hasAttribute("aria-label", Pattern.compile("1,274 positions free, 1 held, 0 sold"));
  }

  @Test
  void aRowThatIsPointedAtIsTheLayerThatIsChosen() throws Exception {
    Page page = open(server.triangle(5, null));
    page.locator(".triangle .layer").nth(1).locator(".seat").first().click();
    assertThat(layers(page)).hasValue("2");
    assertThat(layers(page)).isFocused();
  }

  @Test
  void whereVisitorsAreOffTheShopAsksForAKey() throws Exception {
    String id = server.triangle(3, null);
    String key = server.buyer("known").key().orElseThrow();
    try (Server closed = server.startWithoutVisitors()) {
      Page page = chromium.person();
      page.navigate(closed.url() + "/shop/" + id);
      page.getByLabel("Buyer key").fill("lsk_wrong");
      page.getByRole(AriaRole.BUTTON, named("Use this key")).click();
      assertThat(page.getByRole(AriaRole.ALERT)).containsText("This is not a buyer key.");
      page.getByLabel("Buyer key").fill(key);
      page.getByRole(AriaRole.BUTTON, named("Use this key")).click();
      page.getByRole(AriaRole.BUTTON, named("Hold a position")).click();
      assertThat(heading(page, "Held for you")).isVisible();
      // Before its server goes, which a page would complain of.
      page.close();
    }
  }

  @Test
  void aSaleThatIsNotThereLeadsBackToTheList() throws Exception {
    Page page = open("999999");
    assertThat(page.getByRole(AriaRole.ALERT)).containsText("Not found.");
    page.getByRole(AriaRole.LINK, named("All sales")).click();
    assertThat(page.locator("h1")).hasText("Sales");
  }

  static JsonObject dropOfManyWords() {
    JsonArray products = new JsonArray();
    for (int i = 1; i <= 3; i++) {
      products.add(
          new JsonObject()
              .put("sku", "LONG-" + i)
              .put("name", "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen".repeat(3))
              .put("price", 99_999_999)
              .put("stock", 1_000_000));
    }
    return RunningServer.dropOf(1).put("name", "Unbreakable".repeat(18)).put("products", products);
  }

  private static Page open(String id) {
    Page page = chromium.person();
    page.navigate(server.url() + "/shop/" + id);
    return page;
  }

  private static Locator layers(Page page) {
    return page.getByRole(AriaRole.COMBOBOX, named("Layer"));
  }

  private static Locator heading(Page page, String text) {
    return page.getByRole(AriaRole.HEADING, named(text));
  }

  private static Page.GetByRoleOptions named(String name) {
    return new Page.GetByRoleOptions().setName(name);
  }

  private static Locator.FilterOptions having(String text) {
    return new Locator.FilterOptions().setHasText(text);
  }
}
