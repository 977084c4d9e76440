package dev.lockstep.server;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import dev.lockstep.server.api.Problem;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Paying in the shop, in a browser: the card that pays, the one that does not, the one that asks.
 */
@Timeout(300)
class BuyingPageTest {
  @RegisterExtension static final RunningServer server = RunningServer.forBrowsers();
  @RegisterExtension static final Chromium chromium = new Chromium();

  @Test
  void aPositionThatIsBoughtTurnsSoldInASecondWindowWithoutReload() throws Exception {
    String id = server.triangle(4, null);
    Page buyer = open(id);
    Page other = open(id);
    buyer.getByRole(AriaRole.COMBOBOX, named("Layer")).selectOption("1");
    press(buyer, "Hold a position");
    assertThat(other.locator(".triangle .seat.held")).hasCount(1);
    press(buyer, "Pay ¥500");

    assertThat(heading(buyer, "It is yours")).isFocused();
    assertThat(buyer.locator(".notice.good")).containsText("Your position: layer 1, place 1.");
    assertThat(buyer.locator(".triangle .seat.sold.mine")).hasCount(1);
    assertThat(buyer.locator(".yours")).containsText("Layer 1: place 1");
    assertThat(other.locator(".triangle .seat.sold")).hasCount(1);
    assertThat(other.locator(".triangle .seat.mine")).hasCount(0);
    assertThat(other.locator(".stock-words").first()).hasText("9 free, 0 held, 1 sold of 10");

    // What was bought is still known after a reload, and a hold is no longer there.
    buyer.reload();
    assertThat(buyer.locator(".yours")).containsText("Layer 1: place 1");
    assertThat(buyer.locator(".triangle .seat.sold.mine")).hasCount(1);
    assertThat(buyer.getByRole(AriaRole.BUTTON, named("Hold a position"))).isVisible();
  }

  @Test
  void aPurchaseNeedsNothingButTheKeyboard() throws Exception {
    Page page = open(server.triangle(3, null));
    assertThat(page.getByRole(AriaRole.BUTTON, named("Hold a position"))).isVisible();
    tabTo(page, "layer");
    page.keyboard().press("ArrowUp");
    assertThat(page.locator("#layer")).hasValue("2");
    tabTo(page, "hold");
    page.keyboard().press("Enter");
    assertThat(heading(page, "Held for you")).isFocused();
    tabTo(page, "pay");
    page.keyboard().press("Enter");
    assertThat(heading(page, "It is yours")).isFocused();
    assertThat(page.locator(".notice.good")).containsText("layer 2, place");
    tabTo(page, "more");
    page.keyboard().press("Enter");
    assertThat(page.getByRole(AriaRole.BUTTON, named("Hold a position"))).isVisible();
  }

  @Test
  void aDeclineSaysThatNothingWasChargedAndKeepsThePositionForAnotherCard() throws Exception {
    String id = server.triangle(3, null);
    Page page = open(id);
    press(page, "Hold a position");
    page.getByLabel("Visa, declined").check();
    press(page, "Pay ¥500");
    Locator answer = page.locator("#answer");
    assertThat(answer).containsText("The card was declined.");
    assertThat(answer).containsText("Nothing was charged");
    assertThat(page.locator(".triangle .seat.held.mine")).hasCount(1);
    page.getByLabel("Visa, pays at once").check();
    press(page, "Pay ¥500");
    assertThat(heading(page, "It is yours")).isVisible();
  }

  @Test
  void threeDSecureIsApprovedAtTheTestBank() throws Exception {
    Page page = open(server.triangle(3, null));
    press(page, "Hold a position");
    page.getByLabel("Visa with 3-D Secure").check();
    press(page, "Pay ¥500");
    assertThat(heading(page, "Your bank asks you to confirm")).isFocused();
    assertThat(page.locator(".triangle .seat.held.mine")).hasCount(1);
    press(page, "Approve");
    assertThat(heading(page, "It is yours")).isVisible();
    assertThat(page.locator(".triangle .seat.sold.mine")).hasCount(1);
  }

  @Test
  void threeDSecureThatIsRefusedKeepsThePositionUntilItIsReleased() throws Exception {
    Page page = open(server.triangle(3, null));
    press(page, "Hold a position");
    page.getByLabel("Visa with 3-D Secure").check();
    press(page, "Pay ¥500");
    press(page, "Refuse");
    assertThat(page.locator("#answer")).containsText("The payment was not approved.");
    assertThat(page.locator(".triangle .seat.held.mine")).hasCount(1);
    press(page, "Release");
    assertThat(page.locator(".triangle .seat.free")).hasCount(6);
  }

  @Test
  void aCartIsBoughtOnAPhone() throws Exception {
    String id =
        server.published(
            new JsonObject()
                .put("kind", "drop")
                .put("name", "Merchandise")
                .put("currency", "KWD")
                .put("purchaseLimit", 5)
                .put(
                    "products",
                    new JsonArray()
                        .add(product("S", "Shirt", 2_500))
                        .add(product("P", "Pin", 10))));
    Page page = chromium.person(390, 844, ColorScheme.DARK);
    page.navigate(server.url() + "/shop/" + id);
    page.getByLabel("Shirt").fill("2");
    page.getByLabel("Pin").fill("1");
    // Three decimals: 2.500 twice and 0.010 once.
    assertThat(page.locator(".panel .total")).hasText(Pattern.compile("Total KWD.5\\.010"));
    press(page, "Hold my cart");
    page.getByRole(AriaRole.BUTTON, named("Pay KWD")).click();
    assertThat(heading(page, "It is yours")).isVisible();
    assertThat(page.locator(".yours")).containsText("2 × Shirt");
    assertThat(page.locator(".products")).containsText("8 free, 0 held, 2 sold of 10");
  }

  @Test
  void anAnswerThatIsLostIsAskedForAgainAndPaidOnce() throws Exception {
    String id = server.triangle(3, null);
    Page page = open(id);
    press(page, "Hold a position");
    assertThat(heading(page, "Held for you")).isVisible();
    // The request arrives, its answer does not.
    page.route(
        "**/checkout",
        route -> {
          route.fetch();
          route.abort();
        });
    press(page, "Pay ¥500");
    assertThat(page.locator("#answer")).containsText("The outcome is not known yet.");
    page.unroute("**/checkout");
    press(page, "Pay ¥500");
    assertThat(heading(page, "It is yours")).isVisible();
    Assertions.assertThat(
            server.operator().get("/v1/purchases?campaign=" + id).expect(200).getJsonArray("items"))
        .hasSize(1);
    chromium.forgive("net::ERR_FAILED");
  }

  @Test
  void anOutcomeThatNobodyKnowsIsAskedForAgainUnderTheSameKey() throws Exception {
    String id = server.triangle(3, null);
    Page page = open(id);
    press(page, "Hold a position");
    assertThat(heading(page, "Held for you")).isVisible();
    List<String> keys = new CopyOnWriteArrayList<>();
    page.route(
        "**/checkout",
        route -> {
          keys.add(route.request().headerValue("idempotency-key"));
          if (keys.size() == 1) {
            route.fetch();
            route.fulfill(
                new Route.FulfillOptions()
                    .setStatus(503)
                    .setContentType("application/problem+json")
                    .setBody(
                        Problem.of("outcome-unknown", 503, "Outcome unknown", "Repeat it.")
                            .retryAfter(Duration.ofSeconds(1))
                            .toJson()
                            .encode()));
          } else {
            route.resume();
          }
        });
    press(page, "Pay ¥500");
    assertThat(heading(page, "It is yours")).isVisible();
    Assertions.assertThat(keys).hasSize(2).containsOnly(keys.get(0)).doesNotContainNull();
    Assertions.assertThat(
            server.operator().get("/v1/purchases?campaign=" + id).expect(200).getJsonArray("items"))
        .hasSize(1);
    chromium.forgive("status of 503");
  }

  @Test
  void aServerThatHasTooMuchToDoIsAskedAgainWhenItSays() throws Exception {
    Page page = open(server.triangle(3, null));
    page.route(
        "**/holds",
        route ->
            route.fulfill(
                new Route.FulfillOptions()
                    .setStatus(503)
                    .setContentType("application/problem+json")
                    .setBody(Problem.overloaded(Duration.ofSeconds(7)).toJson().encode())));
    press(page, "Hold a position");
    assertThat(page.locator("#answer")).containsText("Too many people are buying");
    assertThat(page.locator("#answer")).containsText("Try again in 7 seconds");
    page.unroute("**/holds");
    press(page, "Hold a position");
    assertThat(heading(page, "Held for you")).isVisible();
    chromium.forgive("status of 503");
  }

  @Test
  void operatorsFindThePurchaseRefundItAndSeeThatTheBooksAgree() throws Exception {
    String id = server.triangle(3, null);
    Page shop = open(id);
    press(shop, "Hold a position");
    press(shop, "Pay ¥500");
    assertThat(heading(shop, "It is yours")).isVisible();

    Page operator = chromium.person();
    operator.navigate(server.url() + "/console#/purchases");
    operator.getByLabel("Operator key").fill(RunningServer.OPERATOR_KEY);
    press(operator, "Sign in");
    operator.getByLabel("Campaign").selectOption(id);
    press(operator, "Search");
    Locator row = operator.getByRole(AriaRole.REGION, named("Purchases")).locator("tbody tr");
    assertThat(row).hasCount(1);
    assertThat(row.locator(".badge")).hasText("completed");
    row.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Refund")).click();
    Locator dialog = operator.getByRole(AriaRole.DIALOG);
    dialog.getByLabel("Reason").fill("A kindness");
    dialog.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Refund")).click();
    assertThat(row.locator(".badge")).hasText(Pattern.compile("refunding|refunded"));

    operator.getByRole(AriaRole.LINK, named("Reconciliation")).click();
    assertThat(operator.locator("h1")).hasText("Reconciliation");
    // Money, goods, what is unsettled, the books and the provider.
    assertThat(operator.locator(".notice.good")).hasCount(5);
  }

  private static JsonObject product(String sku, String name, int price) {
    return new JsonObject().put("sku", sku).put("name", name).put("price", price).put("stock", 10);
  }

  private static Page open(String id) {
    Page page = chromium.person();
    page.navigate(server.url() + "/shop/" + id);
    return page;
  }

  private static void press(Page page, String name) {
    page.getByRole(AriaRole.BUTTON, named(name)).click();
  }

  /** Forward only, as somebody would who looks for it. */
  private static void tabTo(Page page, String id) {
    for (int i = 0; i < 50; i++) {
      page.keyboard().press("Tab");
      if (id.equals(page.evaluate("() => document.activeElement.id"))) {
        return;
      }
    }
    throw new AssertionError("The keyboard does not get to #" + id);
  }

  private static Locator heading(Page page, String text) {
    return page.getByRole(AriaRole.HEADING, named(text));
  }

  private static Page.GetByRoleOptions named(String name) {
    return new Page.GetByRoleOptions().setName(name);
  }
}
