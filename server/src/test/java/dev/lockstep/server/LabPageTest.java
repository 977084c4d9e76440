package dev.lockstep.server;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import java.util.regex.Pattern;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The lab as people see it. */
@Timeout(180)
class LabPageTest {
  @RegisterExtension static final RunningServer server = RunningServer.forBrowsers();
  @RegisterExtension static final Chromium chromium = new Chromium();

  @Test
  void aVisitorFindsARaceSeesItGoWrongAndSeesTheCure() {
    Page page = chromium.person();
    page.navigate(server.url() + "/");
    page.getByRole(AriaRole.LINK, named("Lab")).click();
    assertThat(page.locator("main h2").first()).hasText("Selling the last one");
    page.getByRole(AriaRole.LINK, named("The last unit, sold twice")).click();

    Locator naive = race(page, "Naive");
    Locator lockstep = race(page, "Lockstep");
    assertThat(naive.locator(".notice-title")).hasText("It happened.");
    assertThat(lockstep.locator(".notice-title")).hasText("Prevented by waiting.");
    assertThat(naive.locator(".notice")).containsText("2 sales of 1 unit");
    assertThat(lockstep.locator(".notice")).containsText("1 sale of 1 unit.");
    // Bob's write waits for Ann, and goes on when she has committed.
    assertThat(naive.locator(".waits")).containsText("waits for Ann");
    assertThat(naive.locator(".wait")).hasCount(1);
    assertThat(naive.locator(".goes-on")).containsText("1 row");
    // Nothing is drawn over what a step says.
    assertThat(naive.locator("li.step").first()).hasCSS("padding-left", "8px");
    Assertions.assertThat(
            naive
                .locator("li.step")
                .first()
                .evaluate("step => getComputedStyle(step, '::before').content"))
        .isEqualTo("none");
    assertThat(page.getByText("Lock the row that counts")).isVisible();

    page.getByLabel("Repeatable read").check();
    assertThat(naive.locator(".notice")).containsText("Prevented with 40001.");
    assertThat(naive.locator(".failed .error")).containsText("40001 could not serialize access");
    assertThat(page).hasURL(Pattern.compile(".*isolation=repeatable-read&variant=naive"));
  }

  @Test
  void aRaceIsSteppedThroughAndTheLinkLeadsToTheSameMoment() {
    Page page = chromium.person();
    page.navigate(server.url() + "/lab/last-unit?isolation=read-committed");
    Locator steps = race(page, "Naive").locator("li.step");
    assertThat(page.locator("#counter")).hasText("Moment 11 of 11");
    page.getByRole(AriaRole.BUTTON, named("Back")).click();
    assertThat(page.locator("#counter")).hasText("Moment 10 of 11");
    assertThat(steps).hasCount(10);
    assertThat(race(page, "Naive").locator(".notice")).hasCount(0);
    page.locator("h1").click();
    page.keyboard().press("ArrowLeft");
    page.keyboard().press("ArrowLeft");
    page.keyboard().press("ArrowLeft");
    assertThat(page.locator("#counter")).hasText("Moment 7 of 11");
    assertThat(steps.last()).containsText("waits for Ann");

    Page other = chromium.person();
    other.navigate(page.url());
    assertThat(other.locator("#counter")).hasText("Moment 7 of 11");
    assertThat(race(other, "Naive").locator("li.step").last()).containsText("waits for Ann");
    other.getByRole(AriaRole.BUTTON, named("All")).click();
    assertThat(race(other, "Naive").locator(".notice")).containsText("It happened.");
  }

  @Test
  void onAPhoneOneVariantIsShownAndTheOtherChosen() {
    Page page = chromium.person(390, 844, ColorScheme.DARK);
    page.navigate(server.url() + "/lab/leapfrog?isolation=serializable&variant=lockstep");
    assertThat(race(page, "Lockstep").locator(".notice")).containsText("1, then 2, in order");
    assertThat(race(page, "Naive")).not().isVisible();
    page.getByRole(AriaRole.RADIO, named("Naive")).check();
    assertThat(race(page, "Naive").locator(".notice")).containsText("received 2, then 1");
    assertThat(race(page, "Lockstep")).not().isVisible();
  }

  @Test
  void theTableIsFilledByPlayingEverything() {
    Page page = chromium.person();
    page.navigate(server.url() + "/lab/matrix");
    page.getByRole(AriaRole.BUTTON, named("Play all")).click();
    Locator rows = page.locator("table.matrix tbody tr");
    Locator cells = rows.locator("a.cell");
    assertThat(cells).hasCount(3 * rows.count());
    Locator skew = rows.filter(new Locator.FilterOptions().setHasText("G2-item"));
    Assertions.assertThat(skew.locator("a.cell").allInnerTexts())
        .containsExactly("✗ happens", "✗ happens", "✓ prevented\n40001");
    skew.locator("a.cell").last().click();
    assertThat(page.locator("h1")).hasText("G2-item: write skew");
    assertThat(page.getByLabel("Serializable")).isChecked();
  }

  @Test
  void aScenarioThatIsNotThereIsSaidSo() {
    Page page = chromium.person();
    page.navigate(server.url() + "/lab/no-such-race");
    assertThat(page.locator("h1")).hasText("No such scenario");
  }

  private static Locator race(Page page, String name) {
    return page.locator("section.race[aria-label=" + name + "]");
  }

  private static Page.GetByRoleOptions named(String name) {
    return new Page.GetByRoleOptions().setName(name).setExact(true);
  }
}
