package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import dev.lockstep.testkit.Race;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.Year;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Schedules over HTTP: every form of when, versions, and what is refused. */
@Timeout(120)
class SchedulesApiTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final String HOOK = "https://example.com/hook";
  private static final Map<String, Client> clients = new TreeMap<>();

  @BeforeAll
  static void clients() throws Exception {
    clients.put("service", server.service());
  }

  @Test
  void aScheduleIsShownAsItWasMadeWithEveryDefaultWrittenOut() throws Exception {
    Reply reply =
        service()
            .post(
                "/v1/schedules",
                schedule("{'cron':'0 9 * * *','zone':'Asia/Tokyo'}").put("maxAttempts", 3));
    JsonObject made = reply.expect(201);

    String path = "/v1/schedules/" + made.getString("id");
    assertThat(reply.header("Location")).hasValue(path);
    assertThat(reply.header("ETag")).hasValue("\"1\"");
    assertThat(made.getInteger("version")).isEqualTo(1);
    assertThat(made.getInteger("maxAttempts")).isEqualTo(3);
    assertThat(made.getString("catchUp")).isEqualTo("latest");
    assertThat(made.getJsonObject("when"))
        .isEqualTo(json("{'cron':'0 9 * * *','zone':'Asia/Tokyo','gap':'next','overlap':'first'}"));
    assertThat(made.getJsonObject("deliver"))
        .isEqualTo(
            json(
                "{'webhook':'https://example.com/hook','body':{'greeting':'hello'},"
                    + "'signature':'standard'}"));
    ZonedDateTime next = Instant.parse(made.getString("nextAt")).atZone(ZoneId.of("Asia/Tokyo"));
    assertThat(next.toLocalTime()).isEqualTo(LocalTime.of(9, 0));
    Reply shown = service().get(path);
    assertThat(shown.expect(200)).isEqualTo(made);
    assertThat(shown.header("ETag")).hasValue("\"1\"");
  }

  @Test
  void anInstantIsRunOnceAndOneThatHasJustPassedAtOnce() throws Exception {
    Instant at = Instant.now().plus(1, ChronoUnit.HOURS).truncatedTo(ChronoUnit.MILLIS);
    JsonObject made = make("{'at':'" + at + "'}");
    assertThat(Instant.parse(made.getString("nextAt"))).isEqualTo(at);
    assertThat(preview(made, 10)).containsExactly(at);

    Instant now = Instant.now();
    JsonObject soon = make("{'at':'" + now.minusSeconds(2) + "'}");
    assertThat(Instant.parse(soon.getString("nextAt"))).isAfter(now.minusSeconds(1));

    JsonObject problem =
        create("{'at':'2001-01-01T00:00:00Z'}").expectProblem(400, "invalid-request");
    assertThat(problem.getString("field")).isEqualTo("when.at");
  }

  @Test
  void anInstantIsTooLateByItsYearInUtc() throws Exception {
    JsonObject late = json("{'when':{'at':'9998-12-31T23:59:59-18:00'}}");
    JsonObject problem =
        service().post("/v1/schedules/preview", late).expectProblem(400, "invalid-request");
    assertThat(problem.getString("field")).isEqualTo("when.at");
    assertThat(create("{'at':'9998-12-31T23:59:59-18:00'}").status()).isEqualTo(400);
    assertThat(create("{'at':'9999-01-01T00:00:00+18:00'}").status()).isEqualTo(201);
  }

  @Test
  void aLocalTimeThatTheClocksLeaveOutIsDroppedOrPutOff() throws Exception {
    // 02:30 does not exist in New York on the second Sunday of March.
    ZonedDateTime change = nextChange("America/New_York", true);
    String when = "{'cron':'30 2 * * *','zone':'America/New_York','gap':'%s'}";
    Instant after = change.toInstant();

    List<Instant> skipped = preview(make(when.formatted("skip")), 400);
    List<Instant> putOff = preview(make(when.formatted("next")), 400);

    assertThat(skipped).doesNotContain(after);
    assertThat(putOff).contains(after);
    assertThat(putOff.subList(0, 300)).isSorted();
  }

  @Test
  void aLocalTimeThatComesTwiceIsRunTheFirstTimeTheLastOrBoth() throws Exception {
    // 01:30 comes twice in New York on the first Sunday of November.
    ZonedDateTime change = nextChange("America/New_York", false);
    Instant first = change.toInstant().minusSeconds(1_800);
    Instant last = change.toInstant().plusSeconds(1_800);
    String when = "{'cron':'30 1 * * *','zone':'America/New_York','overlap':'%s'}";

    assertThat(preview(make(when.formatted("first")), 400)).contains(first).doesNotContain(last);
    assertThat(preview(make(when.formatted("last")), 400)).contains(last).doesNotContain(first);
    assertThat(preview(make(when.formatted("both")), 400)).contains(first, last);
  }

  @Test
  void aBirthdayOnTheLeapDayIsKeptInEveryYear() throws Exception {
    String when = "{'yearly':'02-29','time':'09:00','zone':'Europe/Berlin','leapDay':'%s'}";
    for (Map.Entry<String, MonthDay> choice :
        Map.of("feb28", MonthDay.of(2, 28), "mar1", MonthDay.of(3, 1)).entrySet()) {
      List<Instant> times = preview(make(when.formatted(choice.getKey())), 8);
      assertThat(times).hasSize(8);
      for (Instant at : times) {
        ZonedDateTime local = at.atZone(ZoneId.of("Europe/Berlin"));
        assertThat(local.toLocalTime()).isEqualTo(LocalTime.of(9, 0));
        assertThat(MonthDay.from(local))
            .isEqualTo(Year.isLeap(local.getYear()) ? MonthDay.of(2, 29) : choice.getValue());
      }
    }
  }

  @Test
  void aPreviewNeedsNoScheduleAndHasItsLimits() throws Exception {
    JsonObject body =
        new JsonObject().put("when", json("{'cron':'*/5 * * * *','zone':'UTC'}")).put("count", 3);
    List<Instant> times = times(service().post("/v1/schedules/preview", body).expect(200));
    assertThat(times).hasSize(3);
    assertThat(times.get(2)).isEqualTo(times.get(0).plusSeconds(600));

    String path = "/v1/schedules/" + make("{'cron':'0 9 * * *','zone':'UTC'}").getString("id");
    assertThat(times(service().get(path + "/preview").expect(200))).hasSize(10);
    for (String count : List.of("0", "-1", "1001", "ten", "")) {
      service().get(path + "/preview?count=" + count).expectProblem(400, "invalid-request");
    }
    service().get("/v1/schedules/999999/preview").expectProblem(404, "not-found");
  }

  @Test
  void aStaleEditIsRefusedWithTheCurrentVersionAndChangesNothing() throws Exception {
    JsonObject made = make("{'cron':'0 9 * * *','zone':'UTC'}");
    String path = "/v1/schedules/" + made.getString("id");

    patch(path, null, "{'name':'b'}").expectProblem(428, "precondition-required");
    Reply changed = patch(path, "\"1\"", "{'name':'b'}");
    assertThat(changed.expect(200).getString("name")).isEqualTo("b");
    assertThat(changed.header("ETag")).hasValue("\"2\"");
    for (String stale : List.of("\"1\"", "1", "W/\"2\"", "\"3\"", "", "two")) {
      JsonObject problem =
          patch(path, stale, "{'name':'c'}").expectProblem(412, "version-mismatch");
      assertThat(problem.getInteger("currentVersion")).isEqualTo(2);
    }
    assertThat(service().get(path).expect(200)).isEqualTo(changed.json());
    for (String good : List.of("2", "\"1\", \"3\"", "*")) {
      patch(path, good, "{'maxAttempts':7}").expect(200);
    }
    service()
        .send("DELETE", path, null, Map.of("If-Match", "\"1\""))
        .expectProblem(412, "version-mismatch");
    service().send("DELETE", path, null, Map.of("If-Match", "\"5\"")).expect(200);
    service().get(path).expectProblem(404, "not-found");
    patch(path, "\"5\"", "{'name':'d'}").expectProblem(404, "not-found");
    service().delete(path).expectProblem(404, "not-found");
  }

  @Test
  void ofManyWhoEditTheSameVersionOneSucceeds() throws Exception {
    JsonObject made = make("{'cron':'0 9 * * *','zone':'UTC'}");
    String path = "/v1/schedules/" + made.getString("id");

    List<Integer> statuses =
        Race.<Integer>of(8)
            .run(i -> patch(path, "\"1\"", "{'name':'name " + i + "'}").status())
            .valuesOrThrow();

    assertThat(statuses).containsOnlyOnce(200);
    assertThat(statuses.stream().filter(status -> status == 412)).hasSize(7);
    assertThat(service().get(path).expect(200).getInteger("version")).isEqualTo(2);
  }

  @Test
  void aChangeReplacesWhatItNamesAndLeavesTheRest() throws Exception {
    JsonObject made = make("{'cron':'0 9 * * *','zone':'Asia/Tokyo','gap':'skip'}");
    String path = "/v1/schedules/" + made.getString("id");

    JsonObject moved =
        patch(path, "\"1\"", "{'when':{'zone':'Europe/Paris'},'deliver':{'body':{'n':2}}}")
            .expect(200);
    assertThat(moved.getJsonObject("when"))
        .isEqualTo(
            json("{'cron':'0 9 * * *','zone':'Europe/Paris','gap':'skip','overlap':'first'}"));
    assertThat(moved.getJsonObject("deliver"))
        .isEqualTo(
            json("{'webhook':'https://example.com/hook','body':{'n':2},'signature':'standard'}"));
    assertThat(Instant.parse(moved.getString("nextAt")).atZone(ZoneId.of("Europe/Paris")).getHour())
        .isEqualTo(9);

    JsonObject another =
        patch(path, "\"2\"", "{'when':{'yearly':'05-17','time':'08:30','zone':'UTC'}}").expect(200);
    assertThat(another.getJsonObject("when").containsKey("cron")).isFalse();
    assertThat(another.getString("name")).isEqualTo(made.getString("name"));

    for (String bad :
        List.of(
            "{'when':{'gap':'sometimes'}}",
            "{'when':{'cron':'0 9 * * *'}}",
            "{'when':{'leapDay':'mar1','at':'2100-01-01T00:00:00Z'}}",
            "{'deliver':{'webhook':'ftp://example.com/'}}",
            "{'maxAttempts':0}",
            "{'when':null}",
            "{'version':9}")) {
      assertThat(patch(path, "\"3\"", bad).status()).as(bad).isEqualTo(400);
    }
    assertThat(service().get(path).expect(200)).isEqualTo(another);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          when.zone    | {'cron':'0 9 * * *','zone':'Asia/Tokio'}
          when.zone    | {'cron':'0 9 * * *','zone':'asia/tokyo'}
          when.zone    | {'cron':'0 9 * * *'}
          when.zone    | {'cron':'0 9 * * *','zone':''}
          when.zone    | {'yearly':'02-29','time':'09:00','zone':'Mars'}
          when.cron    | {'cron':'0 25 * * *','zone':'UTC'}
          when.cron    | {'cron':'every day','zone':'UTC'}
          when.cron    | {'cron':'0 9 * *','zone':'UTC'}
          when.cron    | {'cron':'0 0 9 * * *','zone':'UTC'}
          when.cron    | {'cron':'0 0 30 2 *','zone':'UTC'}
          when.cron    | {'cron':'','zone':'UTC'}
          when.yearly  | {'yearly':'02-30','time':'09:00','zone':'UTC'}
          when.yearly  | {'yearly':'13-01','time':'09:00','zone':'UTC'}
          when.yearly  | {'yearly':'2-29','time':'09:00','zone':'UTC'}
          when.yearly  | {'yearly':'2024-02-29','time':'09:00','zone':'UTC'}
          when.time    | {'yearly':'02-29','time':'25:00','zone':'UTC'}
          when.time    | {'yearly':'02-29','time':'9:00','zone':'UTC'}
          when.time    | {'yearly':'02-29','zone':'UTC'}
          when.leapDay | {'yearly':'02-29','time':'09:00','zone':'UTC','leapDay':'feb29'}
          when.gap     | {'cron':'0 9 * * *','zone':'UTC','gap':'both'}
          when.overlap | {'cron':'0 9 * * *','zone':'UTC','overlap':'skip'}
          when.at      | {'at':'tomorrow'}
          when.at      | {'at':'2100-01-01'}
          when.at      | {'at':'+12345-01-01T00:00:00Z'}
          when.zone    | {'at':'2100-01-01T00:00:00Z','zone':'UTC'}
          when         | {}
          when         | {'at':'2100-01-01T00:00:00Z','cron':'0 9 * * *','zone':'UTC'}
          when.second  | {'cron':'0 9 * * *','zone':'UTC','second':1}
          """)
  void aWhenThatCannotBeIsRefusedByItsName(String field, String when) throws Exception {
    Reply reply = create(when);
    assertThat(reply.status()).as(reply.response().body()).isEqualTo(400);
    assertThat(reply.json().getString("field")).isEqualTo(field);
    assertThat(reply.json().getString("detail")).doesNotContain("Exception");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          deliver.webhook | {'deliver':{'webhook':'example.com'}}
          deliver.webhook | {'deliver':{'webhook':'https://user:pw@example.com/'}}
          deliver         | {'deliver':{}}
          deliver         | {'deliver':{'webhook':'https://example.com/','mail':{}}}
          deliver.signature | {'deliver':{'webhook':'https://example.com/','signature':'none'}}
          deliver.body    | {'deliver':{'webhook':'https://example.com/','body':'text'}}
          deliver.method  | {'deliver':{'webhook':'https://example.com/','method':'GET'}}
          deliver         | {'deliver':null}
          maxAttempts     | {'maxAttempts':0}
          maxAttempts     | {'maxAttempts':1001}
          maxAttempts     | {'maxAttempts':1.5}
          catchUp         | {'catchUp':'some'}
          name            | {'name':''}
          name            | {'name':' '}
          queue           | {'queue':'mine'}
          """)
  void aFieldThatCannotBeIsRefusedByItsName(String field, String part) throws Exception {
    JsonObject body = schedule("{'cron':'0 9 * * *','zone':'UTC'}").mergeIn(json(part));
    Reply reply = service().post("/v1/schedules", body);
    assertThat(reply.status()).as(reply.response().body()).isEqualTo(400);
    assertThat(reply.json().getString("field")).isEqualTo(field);
  }

  @Test
  void oneKeyMakesOneSchedule() throws Exception {
    JsonObject body = schedule("{'cron':'0 9 * * *','zone':'UTC'}");
    List<String> ids =
        Race.<String>of(6)
            .run(i -> service().post("/v1/schedules", "once", body).expect(201).getString("id"))
            .valuesOrThrow();
    assertThat(ids).containsOnly(ids.get(0));
    Reply again = service().post("/v1/schedules", "once", body);
    assertThat(again.replayed()).isTrue();
    assertThat(again.header("ETag")).hasValue("\"1\"");
    service()
        .post("/v1/schedules", "once", body.copy().put("name", "another"))
        .expectProblem(422, "idempotency-key-reused");
  }

  @Test
  void schedulesAreListedPageByPageNewestFirst() throws Exception {
    String older = make("{'cron':'0 9 * * *','zone':'UTC'}").getString("id");
    String newer = make("{'cron':'0 9 * * *','zone':'UTC'}").getString("id");

    JsonObject first = service().get("/v1/schedules?limit=1").expect(200);
    JsonObject second =
        service().get("/v1/schedules?limit=1&after=" + first.getString("next")).expect(200);

    assertThat(first.getJsonArray("items").getJsonObject(0).getString("id")).isEqualTo(newer);
    assertThat(second.getJsonArray("items").getJsonObject(0).getString("id")).isEqualTo(older);
    assertThat(service().get("/v1/schedules?limit=1000").expect(200).getString("next")).isNull();
    service().get("/v1/schedules?after=nonsense").expectProblem(400, "invalid-request");
    service().get("/v1/schedules?limit=0").expectProblem(400, "invalid-request");
  }

  private static Client service() {
    return Objects.requireNonNull(clients.get("service"));
  }

  private static JsonObject make(String when) throws Exception {
    return create(when).expect(201);
  }

  private static Reply create(String when) throws Exception {
    return service().post("/v1/schedules", schedule(when));
  }

  private static JsonObject schedule(String when) {
    return new JsonObject()
        .put("name", "a schedule")
        .put("when", json(when))
        .put(
            "deliver",
            new JsonObject().put("webhook", HOOK).put("body", json("{'greeting':'hello'}")));
  }

  private static Reply patch(String path, @Nullable String ifMatch, String body) throws Exception {
    return service()
        .send(
            "PATCH",
            path,
            json(body).encode(),
            ifMatch == null ? Map.of() : Map.of("If-Match", ifMatch));
  }

  private static List<Instant> preview(JsonObject schedule, int count) throws Exception {
    return times(
        service()
            .get("/v1/schedules/" + schedule.getString("id") + "/preview?count=" + count)
            .expect(200));
  }

  private static List<Instant> times(JsonObject answer) {
    JsonArray items = answer.getJsonArray("items");
    return items.stream().map(item -> Instant.parse((String) item)).toList();
  }

  /** The next change of the clocks: forward, or back. */
  private static ZonedDateTime nextChange(String zone, boolean forward) {
    var rules = ZoneId.of(zone).getRules();
    var change = rules.nextTransition(Instant.now().plus(2, ChronoUnit.DAYS));
    while (change.isGap() != forward) {
      change = rules.nextTransition(change.getInstant());
    }
    return change.getInstant().atZone(ZoneOffset.UTC);
  }

  /** With apostrophes, which read better in Java. */
  private static JsonObject json(String text) {
    return new JsonObject(text.replace('\'', '"'));
  }
}
