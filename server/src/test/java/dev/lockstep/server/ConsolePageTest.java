package dev.lockstep.server;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.layer;
import static dev.lockstep.server.Client.sku;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.lockstep.server.WebhookReceiver.Answer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Optional;
import java.util.regex.Pattern;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The console as an operator uses it, in a browser. */
@Timeout(300)
class ConsolePageTest {
  @RegisterExtension static final RunningServer server = RunningServer.forBrowsers();
  @RegisterExtension static final Chromium chromium = new Chromium();

  @Test
  void onlyAnOperatorsKeyOpensTheConsoleAndOnlyInThisTab() throws Exception {
    Page page = chromium.person();
    page.navigate(server.url() + "/console");
    signIn(page, "lsk_nobody");
    assertThat(page.getByRole(AriaRole.ALERT)).containsText("no longer accepted");
    signIn(page, server.service().key().orElseThrow());
    assertThat(page.getByRole(AriaRole.ALERT)).containsText("This key may not do that.");
    signIn(page, RunningServer.OPERATOR_KEY);
    assertThat(page.locator("h1")).hasText("Overview");
    page.reload();
    assertThat(page.locator("h1")).hasText("Overview");

    Page otherTab = page.context().newPage();
    otherTab.navigate(server.url() + "/console");
    assertThat(otherTab.getByLabel("Operator key")).isVisible();
    page.getByRole(AriaRole.BUTTON, named("Sign out")).click();
    assertThat(page.getByLabel("Operator key")).isVisible();
    page.reload();
    assertThat(page.getByLabel("Operator key")).isVisible();
  }

  @Test
  void aTriangleIsMadePublishedPausedAndTheShopSaysSo() throws Exception {
    Page operator = console("campaigns");
    operator.getByRole(AriaRole.BUTTON, named("New campaign")).click();
    operator.getByLabel("Name").fill("A spring lottery");
    operator.getByLabel("Layers").fill("3");
    operator.getByLabel("Prizes").fill("first prize");
    operator.getByRole(AriaRole.BUTTON, named("Create draft")).click();
    assertThat(dialog(operator)).containsText("Write a prize as a number and a name");
    operator.getByLabel("Prizes").fill("1 A bicycle");
    operator.getByRole(AriaRole.BUTTON, named("Create draft")).click();
    assertThat(operator.locator("h1")).hasText("A spring lottery");

    confirm(operator, "Publish", Optional.of("The day has come"));
    assertThat(operator.locator(".head .badge")).hasText("On sale");
    Page shop = chromium.person();
    shop.navigate(
        operator
            .getByRole(AriaRole.LINK, named("In the shop"))
            .evaluate("link => link.href")
            .toString());
    assertThat(shop.locator(".card-head .badge")).hasText("On sale");

    operator.getByRole(AriaRole.BUTTON, named("Pause")).click();
    // A reason has to be given: the browser does not let the form go without.
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Pause")).click();
    assertThat(dialog(operator).getByLabel("Reason")).isFocused();
    dialog(operator).getByLabel("Reason").fill("A leak in the roof");
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Pause")).click();
    assertThat(operator.locator(".head .badge")).hasText("Paused");
    assertThat(shop.locator(".card-head .badge")).hasText("Paused");
    assertThat(shop.locator("main")).containsText("A leak in the roof");
    shop.getByRole(AriaRole.BUTTON, named("Hold a position")).click();
    assertThat(shop.locator("#answer")).containsText("The sale is paused.");

    operator.getByRole(AriaRole.BUTTON, named("Undo")).click();
    assertThat(operator.locator(".head .badge")).hasText("On sale");
    assertThat(shop.locator(".card-head .badge")).hasText("On sale");
    shop.getByRole(AriaRole.BUTTON, named("Hold a position")).click();
    assertThat(shop.getByRole(AriaRole.HEADING, named("Held for you"))).isVisible();

    operator.reload();
    Locator actions = operator.getByRole(AriaRole.REGION, named("Actions"));
    assertThat(actions).containsText("The day has come");
    assertThat(actions).containsText("A leak in the roof");
    assertThat(actions).containsText("operator:configured");
    assertThat(operator.getByRole(AriaRole.REGION, named("Stock changes")))
        .containsText("acquired");
  }

  @Test
  void theOverviewPlotsWhatIsSoldAndHowLongItTakes() throws Exception {
    String id = server.drop(50, null);
    Page operator = console("overview");
    Locator sales = operator.locator(".plot:has(h3:text-is('Sales'))");
    Locator times = operator.locator(".plot:has(h3:text-is('Purchase latency'))");
    // The first two readings have been compared, so that what is sold now is between two.
    assertThat(sales.locator(".figure")).containsText("per s");
    server
        .service()
        .post(
            "/v1/campaigns/" + id + "/purchases",
            "o",
            Client.order("b", "pm_card_visa", sku("A", 2)))
        .expect(201);
    assertThat(times).containsText(Pattern.compile("highest [0-9.]+ ms"));
    assertThat(sales).containsText(Pattern.compile("highest (0\\.[1-9]|[1-9])"));
    assertThat(times.locator("polyline").first()).hasAttribute("points", Pattern.compile("\\d"));
  }

  @Test
  void aDropOfTwoProductsIsMade() throws Exception {
    Page operator = console("campaigns");
    operator.getByRole(AriaRole.BUTTON, named("New campaign")).click();
    operator.getByLabel("Kind").selectOption("drop");
    dialog(operator).getByLabel("Name").first().fill("Shirts and pins");
    dialog(operator).getByLabel("Currency").fill("USD");
    operator.getByRole(AriaRole.BUTTON, named("Another product")).click();
    Locator products = dialog(operator).getByRole(AriaRole.GROUP);
    products.nth(0).getByLabel("Name").fill("Shirt");
    products.nth(1).getByLabel("Name").fill("Pin");
    products.nth(1).getByLabel("Stock").fill("7");
    operator.getByRole(AriaRole.BUTTON, named("Create draft")).click();
    assertThat(operator.locator("h1")).hasText("Shirts and pins");
    assertThat(operator.getByRole(AriaRole.REGION, named("Stock"))).containsText("Pin (ITEM-2)");

    confirm(operator, "Close", Optional.of("A mistake"));
    assertThat(operator.locator(".head .badge")).hasText("Closed");
  }

  @Test
  void aKeyIsShownOnceAndRevokedWithAReason() throws Exception {
    Page operator = console("keys");
    operator.getByRole(AriaRole.BUTTON, named("New key")).click();
    dialog(operator).getByLabel("Role").selectOption("service");
    dialog(operator).getByLabel("Name").fill("The web shop");
    operator.getByRole(AriaRole.BUTTON, named("Create key")).click();
    String key = operator.locator("#new-key").textContent();
    new Client(server.url(), Optional.of(key)).get("/v1/visitor").expect(200);
    operator.getByRole(AriaRole.BUTTON, named("I have copied it")).click();
    assertThat(operator.locator("#new-key")).hasCount(0);
    Assertions.assertThat(operator.content()).doesNotContain(key);

    Locator row = operator.getByRole(AriaRole.ROW).filter(having("The web shop"));
    row.getByRole(AriaRole.BUTTON, inside("Revoke")).click();
    dialog(operator).getByLabel("Reason").fill("Found in a log");
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Revoke")).click();
    assertThat(row).containsText("Found in a log");
    new Client(server.url(), Optional.of(key))
        .get("/v1/visitor")
        .expectProblem(401, "unauthorized");
  }

  @Test
  void holdsAreSearchedAndOneIsReleased() throws Exception {
    String id = server.triangle(4, null);
    Client shop = server.service();
    shop.post("/v1/campaigns/" + id + "/holds", "1", cart("ann", layer(4, 1))).expect(201);
    shop.post("/v1/campaigns/" + id + "/holds", "2", cart("bob", layer(4, 1))).expect(201);
    Page operator = console("holds");
    Locator rows = operator.getByRole(AriaRole.REGION, named("Holds")).locator("tbody tr");
    operator.getByLabel("Campaign").selectOption(id);
    operator.getByRole(AriaRole.BUTTON, named("Search")).click();
    assertThat(rows).hasCount(2);
    operator.getByLabel("Buyer").fill("ann");
    operator.getByLabel("Buyer").press("Enter");
    assertThat(rows).hasCount(1);
    rows.getByRole(AriaRole.BUTTON, inside("Release")).click();
    dialog(operator).getByLabel("Reason").fill("Asked for by phone");
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Release")).click();
    assertThat(rows.locator(".badge")).hasText("released");
    Assertions.assertThat(server.anyone().get("/v1/campaigns/" + id).expect(200).getInteger("held"))
        .isEqualTo(1);
  }

  @Test
  void theRecordsAreCheckedWhenAskedAndABrokenOneIsShown() throws Exception {
    String id = server.drop(9, null);
    Page operator = console("invariants");
    assertThat(operator.locator(".notice.good")).containsText("All records agree.");
    server.database().execute("UPDATE lockstep.pool SET sold = sold + 1 WHERE scope = " + id);
    operator.getByRole(AriaRole.BUTTON, named("Check now")).click();
    assertThat(operator.getByRole(AriaRole.ALERT)).containsText("found");
    assertThat(operator.getByRole(AriaRole.REGION, named("Violations"))).containsText(id);
    server.database().execute("UPDATE lockstep.pool SET sold = sold - 1 WHERE scope = " + id);
    operator.getByRole(AriaRole.BUTTON, named("Check now")).click();
    assertThat(operator.locator(".notice.good")).containsText("All records agree.");
  }

  @Test
  void aParkedKeyIsLookedAtAndSkippedWithAReason() throws Exception {
    try (WebhookReceiver receiver =
        new WebhookReceiver().answering(one -> Answer.of(one.seq() == 1 ? 422 : 200))) {
      define(receiver);
      Page operator = console("streams");
      Locator streams = operator.getByRole(AriaRole.REGION, named("Streams"));
      assertThat(streams).containsText("keys parked");
      assertThat(operator.getByRole(AriaRole.REGION, named("Partitions"))).containsText("process");
      assertThat(operator.locator(".plot:has(h3:text-is('Lag')) .figure")).hasText("0 events");
      operator.getByRole(AriaRole.LINK, named("orders")).click();
      Locator keys = operator.getByRole(AriaRole.REGION, named("Stopped keys of shop"));
      assertThat(keys).containsText("Answered 422");
      keys.getByRole(AriaRole.BUTTON, inside("Event")).click();
      assertThat(operator.locator("pre")).containsText("three pens");

      keys.getByRole(AriaRole.BUTTON, inside("Retry")).click();
      dialog(operator).getByLabel("Reason").fill("The shop is mended");
      dialog(operator).getByRole(AriaRole.BUTTON, inside("Retry")).click();
      assertThat(operator.locator("#toast")).containsText("being retried");
      Await.until("it was tried again", () -> receiver.received().size() >= 2);
      keys.getByRole(AriaRole.BUTTON, inside("Skip")).click();
      dialog(operator).getByLabel("Reason").fill("Sent by post");
      dialog(operator).getByRole(AriaRole.BUTTON, inside("Skip")).click();
      assertThat(operator.locator("main")).containsText("No key is parked at shop.");
      Locator record = operator.getByRole(AriaRole.REGION, named("Actions"));
      assertThat(record).containsText("Sent by post");
      assertThat(record).containsText("The shop is mended");

      operator.getByRole(AriaRole.BUTTON, named("Replay")).click();
      dialog(operator).getByLabel("From event").fill("2");
      dialog(operator).getByLabel("Key").fill("order/7 é");
      dialog(operator).getByLabel("Reason").fill("Lost by the shop");
      dialog(operator).getByRole(AriaRole.BUTTON, inside("Replay")).click();
      assertThat(operator.locator("#toast")).containsText("replay has started");
      Await.until(
          "the second came twice",
          () -> receiver.received().stream().filter(one -> one.seq() == 2).count() == 2);
    }
  }

  private static void define(WebhookReceiver receiver) throws Exception {
    JsonObject sink =
        new JsonObject().put("name", "shop").put("type", "webhook").put("url", receiver.url());
    Client client = server.operator();
    client
        .put("/v1/streams/orders", new JsonObject().put("sinks", new JsonArray().add(sink)))
        .expect(200);
    for (String data : new String[] {"three pens", "an eraser"}) {
      client
          .post(
              "/v1/streams/orders/events",
              new JsonObject()
                  .put("key", "order/7 é")
                  .put("type", "order.placed")
                  .put("data", new JsonObject().put("what", data)))
          .expect(201);
    }
    Await.until(
        "the key is parked",
        () ->
            client
                    .get("/v1/streams/orders")
                    .expect(200)
                    .getJsonArray("sinks")
                    .getJsonObject(0)
                    .getInteger("parked")
                == 1);
  }

  private static Page console(String part) {
    Page page = chromium.person();
    page.navigate(server.url() + "/console#/" + part);
    signIn(page, RunningServer.OPERATOR_KEY);
    assertThat(page.getByRole(AriaRole.BUTTON, named("Sign out"))).isVisible();
    return page;
  }

  private static void signIn(Page page, String key) {
    page.getByLabel("Operator key").fill(key);
    page.getByRole(AriaRole.BUTTON, named("Sign in")).click();
  }

  private static void confirm(Page page, String action, Optional<String> reason) {
    page.getByRole(AriaRole.BUTTON, named(action)).click();
    reason.ifPresent(text -> dialog(page).getByLabel("Reason").fill(text));
    dialog(page).getByRole(AriaRole.BUTTON, inside(action)).click();
    assertThat(dialog(page)).hasCount(0);
  }

  private static Locator dialog(Page page) {
    return page.getByRole(AriaRole.DIALOG);
  }

  private static Page.GetByRoleOptions named(String name) {
    return new Page.GetByRoleOptions().setName(name);
  }

  private static Locator.GetByRoleOptions inside(String name) {
    return new Locator.GetByRoleOptions().setName(name);
  }

  private static Locator.FilterOptions having(String text) {
    return new Locator.FilterOptions().setHasText(text);
  }
}
