package dev.lockstep.server;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.lockstep.job.EnqueueResult.Created;
import dev.lockstep.job.JobId;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.NewJob;
import dev.lockstep.tx.Transactor;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.Map;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Queues, jobs and schedules in the console as an operator uses them, in a browser. */
@Timeout(300)
class JobConsolePageTest {
  @RegisterExtension static final RunningServer server = RunningServer.forBrowsers();
  @RegisterExtension static final Chromium chromium = new Chromium();

  /** No node serves it, so that what is in it stays as it is. */
  private static final String LETTERS = "letters";

  private static final Instant NEXT_CENTURY = Instant.parse("2100-01-01T00:00:00Z");

  private final Transactor transactor = new Transactor(server.database().dataSource());
  private final Jobs jobs = new Jobs(transactor);

  @BeforeEach
  void emptyTheQueue() {
    server.database().execute("DELETE FROM lockstep.job WHERE queue = 'letters'");
    server.database().execute("DELETE FROM lockstep.job_dead WHERE queue = 'letters'");
  }

  @Test
  void aQueueIsWatchedPausedWithAReasonAndResumed() throws Exception {
    enqueue("postcard", "Ann");
    Page operator = console("queues");
    Locator row = queue(operator, LETTERS);
    assertThat(row.getByRole(AriaRole.LINK, inside("1 ready in letters"))).isVisible();
    enqueue("postcard", "Bob");
    assertThat(row.getByRole(AriaRole.LINK, inside("2 ready in letters"))).isVisible();

    row.getByRole(AriaRole.BUTTON, inside("Pause letters")).click();
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Pause")).click();
    assertThat(dialog(operator).getByLabel("Reason")).isFocused();
    dialog(operator).getByLabel("Reason").fill("The post is on strike");
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Pause")).click();
    assertThat(row.locator(".badge")).hasText("paused");
    assertThat(row).containsText("The post is on strike");
    Assertions.assertThat(paused()).isTrue();

    operator.getByRole(AriaRole.BUTTON, named("Undo")).click();
    assertThat(row.locator(".badge")).hasText("runs");
    Assertions.assertThat(paused()).isFalse();
    Locator record = operator.getByRole(AriaRole.REGION, named("Actions on jobs"));
    assertThat(record).containsText("The post is on strike");
    assertThat(record).containsText("operator:configured");

    queue(operator, "upkeep").getByRole(AriaRole.BUTTON, inside("Pause upkeep")).click();
    assertThat(dialog(operator)).containsText("holds do not expire");
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Cancel")).click();
  }

  @Test
  void deadJobsAreFoundLookedIntoCountedAndBroughtBack() throws Exception {
    dead("postcard", "Ann");
    JobId bobs = dead("postcard", "Bob");
    dead("parcel", "Bob");
    enqueue("postcard", "Bob");
    Page operator = console("queues");
    queue(operator, LETTERS).getByRole(AriaRole.LINK, inside("3 dead in letters")).click();
    Locator rows = operator.getByRole(AriaRole.REGION, named("Jobs")).locator("tbody tr");
    assertThat(rows).hasCount(3);
    operator.getByLabel("Kind").fill("postcard");
    operator.getByLabel("Text").fill("Bob");
    operator.getByLabel("Text").press("Enter");
    assertThat(rows).hasCount(1);
    operator.reload();
    assertThat(rows).hasCount(1);

    rows.getByRole(AriaRole.LINK).click();
    assertThat(operator.locator("h1")).hasText("postcard");
    Locator attempts = operator.locator(".timeline li");
    assertThat(attempts).hasCount(3);
    assertThat(attempts.nth(0)).containsText("Attempt 1 failed");
    assertThat(attempts.nth(1)).containsText("No such street");
    assertThat(attempts.nth(2)).containsText("Given up");
    assertThat(operator.locator("main")).containsText(bobs.toString());
    operator.goBack();
    assertThat(rows).hasCount(1);

    operator.getByRole(AriaRole.BUTTON, named("Retry dead …")).click();
    assertThat(dialog(operator)).containsText("Retry 1 dead job?");
    assertThat(dialog(operator)).containsText("kind “postcard”");
    dead("postcard", "Bob");
    dialog(operator).getByLabel("Reason").fill("The street has a name again");
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Retry")).click();
    assertThat(dialog(operator)).containsText("Now 2 match.");
    Assertions.assertThat(count("job_dead")).isEqualTo(4);
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Count again")).click();
    assertThat(dialog(operator)).containsText("Retry 2 dead jobs?");
    dialog(operator).getByLabel("Reason").fill("The street has a name again");
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Retry")).click();
    assertThat(operator.locator("#toast")).containsText("2 jobs retried.");
    Assertions.assertThat(count("job_dead")).isEqualTo(2);
    Assertions.assertThat(count("job")).isEqualTo(3);
  }

  @Test
  void aDeadJobThatIsBroughtBackStillListsWhatWentWrong() throws Exception {
    JobId id = dead("postcard", "Ann");
    Page operator = console("jobs/" + id);
    operator.getByRole(AriaRole.BUTTON, named("Retry")).click();
    assertThat(dialog(operator)).containsText("Past errors stay listed");
    dialog(operator).getByLabel("Reason").fill("The street has a name again");
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Retry")).click();

    assertThat(operator.locator(".head .badge")).hasText("ready");
    Locator attempts = operator.locator(".timeline li");
    assertThat(attempts).hasCount(3);
    assertThat(attempts.nth(0)).containsText("Attempt 1 failed");
    assertThat(attempts.nth(1)).containsText("No such street");
    assertThat(attempts.nth(2)).containsText("Attempt 3 is due");
    assertThat(operator.locator("main")).containsText("2 in total");
  }

  @Test
  void jobsOfTheCurrentFilterAreCancelledAndOneIsRunEarly() throws Exception {
    JobId late = enqueue("late", "Ann");
    enqueue("postcard", "Ann");
    enqueue("postcard", "Bob");
    transactor.run(c -> jobs.runAt(c, late, OptionalInt.empty(), NEXT_CENTURY));
    Page operator = console("jobs?queue=letters&state=ready&kind=postcard");
    operator.getByRole(AriaRole.BUTTON, named("Cancel …")).click();
    assertThat(dialog(operator)).containsText("Remove 2 jobs permanently?");
    dialog(operator).getByLabel("Reason").fill("Sent by hand");
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Cancel jobs")).click();
    assertThat(operator.locator("main")).containsText("No job matches.");
    Assertions.assertThat(count("job")).isEqualTo(1);

    operator.navigate(server.url() + "/console#/jobs/" + late);
    assertThat(operator.locator(".head .badge")).hasText("scheduled");
    assertThat(operator.locator(".timeline .next")).containsText("Attempt 1 is scheduled");
    operator.getByRole(AriaRole.BUTTON, named("Run now")).click();
    dialog(operator).getByLabel("Reason").fill("It is urgent");
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Run now")).click();
    assertThat(operator.locator(".head .badge")).hasText("ready");
  }

  @Test
  void aScheduleIsMadeShownInACalendarChangedByWhoSawItLastAndDeleted() throws Exception {
    Page operator = console("schedules");
    operator.getByRole(AriaRole.BUTTON, named("New schedule")).click();
    dialog(operator).getByLabel("Name").fill("Morning greetings");
    dialog(operator).getByLabel("Cron expression").fill("every day");
    dialog(operator).getByLabel("Zone").fill("Asia/Tokyo");
    dialog(operator).getByLabel("Address").fill("https://greetings.invalid/hook");
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Show the next runs")).click();
    assertThat(dialog(operator)).containsText("not a cron expression");
    dialog(operator).getByLabel("Cron expression").fill("30 9 * * *");
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Show the next runs")).click();
    assertThat(dialog(operator).locator(".lines li")).hasCount(5);
    assertThat(dialog(operator).locator(".lines li").first())
        .hasText(Pattern.compile("\\d{4}-\\d\\d-\\d\\d 09:30 Asia/Tokyo"));
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Create schedule")).click();
    assertThat(operator.locator("h1")).hasText("Morning greetings");
    assertThat(operator.locator(".month .busy").first()).containsText("09:30");
    Assertions.assertThat(operator.locator(".month .busy").count()).isGreaterThan(27);

    String url = operator.url();
    String path = "/v1/schedules/" + url.substring(url.lastIndexOf('/') + 1);
    operator.getByRole(AriaRole.BUTTON, named("Edit")).click();
    dialog(operator).getByLabel("Name").fill("Mine");
    changeElsewhere(path, 1);
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Save")).click();
    assertThat(dialog(operator)).containsText("it is version 2 now");
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Load version 2")).click();
    assertThat(dialog(operator)).containsText("You are changing version 2.");
    assertThat(dialog(operator).getByLabel("Name")).hasValue("Somebody else’s");
    dialog(operator).getByLabel("Name").fill("Ours");
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Save")).click();
    assertThat(operator.locator("#toast")).containsText("Saved as version 3.");
    assertThat(operator.locator("h1")).hasText("Ours");

    operator.getByRole(AriaRole.BUTTON, named("Delete")).click();
    dialog(operator).getByLabel("Reason").fill("Nobody reads them");
    dialog(operator).getByRole(AriaRole.BUTTON, inside("Delete")).click();
    assertThat(operator.locator("h1")).hasText("Schedules");
    server.operator().get(path).expectProblem(404, "not-found");
  }

  private static void changeElsewhere(String path, int version) throws Exception {
    String change = new JsonObject().put("name", "Somebody else’s").encode();
    server
        .operator()
        .send("PATCH", path, change, Map.of("If-Match", "\"" + version + "\""))
        .expect(200);
  }

  private JobId enqueue(String kind, String to) {
    NewJob job = NewJob.of(LETTERS, kind, new JsonObject().put("to", to).encode());
    return transactor.call(c -> ((Created) jobs.enqueue(c, job)).id());
  }

  /** As two failed attempts leave it. */
  private JobId dead(String kind, String to) {
    JobId id = enqueue(kind, to);
    String which = " WHERE id = '" + id + "'";
    server
        .database()
        .execute(
            """
            INSERT INTO lockstep.job_dead (shard, id, queue, priority, due, kind, payload,
              max_attempts, attempts, crashes, reason, died_at, version)
            SELECT shard, id, queue, priority, due, kind, payload, 2, 2, 0, 'No such street', now(), 3
            FROM lockstep.job"""
                + which);
    for (int attempt = 1; attempt <= 2; attempt++) {
      server
          .database()
          .execute(
              "INSERT INTO lockstep.job_attempt SELECT shard, id, %d, now(), 'No such street'"
                      .formatted(attempt)
                  + " FROM lockstep.job"
                  + which);
    }
    server.database().execute("DELETE FROM lockstep.job" + which);
    return id;
  }

  private static int count(String table) {
    return (int)
        server
            .database()
            .queryLong("SELECT count(*) FROM lockstep." + table + " WHERE queue = 'letters'");
  }

  private static boolean paused() throws Exception {
    return server.operator().get("/v1/queues").expect(200).getJsonArray("items").stream()
        .map(JsonObject.class::cast)
        .anyMatch(one -> one.getString("name").equals(LETTERS) && one.getBoolean("paused"));
  }

  private static Locator queue(Page page, String name) {
    return page.getByRole(AriaRole.REGION, new Page.GetByRoleOptions().setName("Queues"))
        .locator("tbody tr")
        .filter(new Locator.FilterOptions().setHas(page.locator("td:text-is('" + name + "')")));
  }

  private static Page console(String part) {
    Page page = chromium.person();
    page.navigate(server.url() + "/console#/" + part);
    page.getByLabel("Operator key").fill(RunningServer.OPERATOR_KEY);
    page.getByRole(AriaRole.BUTTON, named("Sign in")).click();
    assertThat(page.getByRole(AriaRole.BUTTON, named("Sign out"))).isVisible();
    return page;
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
}
