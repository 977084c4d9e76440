package dev.lockstep.server;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The ledger in the console, in a browser. */
@Timeout(300)
class AccountsPageTest {
  @RegisterExtension static final RunningServer server = RunningServer.forBrowsers();
  @RegisterExtension static final Chromium chromium = new Chromium();

  @Test
  void anOperatorOpensAccountsMovesMoneyAndReadsTheBooksOfASale() throws Exception {
    String campaign = server.drop(5, null);
    server
        .service()
        .post(
            "/v1/campaigns/" + campaign + "/purchases",
            "p",
            order("b", "pm_card_visa", sku("A", 1)))
        .expect(201);
    Page page = chromium.person();
    page.navigate(server.url() + "/console#/accounts");
    page.getByLabel("Operator key").fill(RunningServer.OPERATOR_KEY);
    page.getByRole(AriaRole.BUTTON, named("Sign in")).click();
    assertThat(page.locator("h1")).hasText("Accounts");

    open(page, "The world", "no floor");
    open(page, "A purse", "never below zero");
    Locator accounts = page.getByRole(AriaRole.REGION, named("Accounts"));
    assertThat(accounts.locator("tbody tr")).hasCount(2);
    String world = accounts.locator("tbody tr").nth(0).locator("code").textContent();
    String purse = accounts.locator("tbody tr").nth(1).locator("code").textContent();

    page.getByRole(AriaRole.BUTTON, named("Transfer")).click();
    page.getByLabel("From (id)").fill(purse);
    page.getByLabel("To (id)").fill(world);
    page.getByLabel("Amount in the smallest unit").fill("1500");
    page.getByLabel("Currency").fill("JPY");
    page.getByRole(AriaRole.BUTTON, named("Move the money")).click();
    assertThat(page.locator("dialog")).containsText("Insufficient funds");
    page.getByLabel("From (id)").fill(world);
    page.getByLabel("To (id)").fill(purse);
    page.getByRole(AriaRole.BUTTON, named("Move the money")).click();
    assertThat(page.locator("#toast")).containsText("Moved.");
    assertThat(accounts.locator("tbody tr").nth(1)).containsText("¥1,500");
    assertThat(page.locator("main")).containsText("The books balance.");

    accounts.getByRole(AriaRole.LINK, new Locator.GetByRoleOptions().setName("A purse")).click();
    assertThat(page.locator("h1")).hasText("A purse");
    assertThat(page.getByRole(AriaRole.REGION, named("Entries"))).containsText("moved");

    page.navigate(server.url() + "/console#/accounts");
    page.getByLabel("Book").selectOption(campaign);
    assertThat(page.getByRole(AriaRole.REGION, named("Accounts"))).containsText("Takings");
    assertThat(page.getByRole(AriaRole.REGION, named("Trial balance"))).containsText("$0.00");
  }

  private static void open(Page page, String name, String floor) {
    page.getByRole(AriaRole.BUTTON, named("New account")).click();
    page.getByLabel("Name").fill(name);
    page.getByLabel("Currency").fill("JPY");
    page.getByLabel("Floor").selectOption(floor);
    page.getByRole(AriaRole.BUTTON, named("Open account")).click();
    assertThat(page.locator("#toast")).containsText("Opened.");
    assertThat(page.getByRole(AriaRole.REGION, named("Accounts"))).containsText(name);
  }

  private static Page.GetByRoleOptions named(String name) {
    return new Page.GetByRoleOptions().setName(name);
  }
}
