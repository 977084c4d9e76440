package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.examples.birthdays.Birthdays;
import dev.lockstep.examples.birthdays.GreetingDoor;
import dev.lockstep.examples.birthdays.GreetingDoor.Greeting;
import dev.lockstep.examples.birthdays.Person;
import dev.lockstep.server.Await;
import dev.lockstep.server.MovableClock;
import dev.lockstep.server.Server;
import dev.lockstep.server.config.ServerConfig;
import dev.lockstep.server.setting.Sources;
import dev.lockstep.testkit.TestDatabase;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The birthday example, from the first morning of a day on earth to the last, on two nodes of which
 * one is stopped on the way, and in the year after, for all of which everything was down. The
 * database's clock is moved; nobody waits.
 */
@Timeout(180)
class BirthdaysTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private static final String KEY = "operator-key-for-birthdays";
  private static final LocalTime NINE = LocalTime.of(9, 0);

  /** A greeting, and what time it was then. */
  private record Heard(Greeting greeting, Instant at) {}

  private final List<Heard> heard = new CopyOnWriteArrayList<>();

  @Test
  void everybodyIsGreetedOnceAtNineInTheMorningWhereTheyLive() throws Exception {
    MovableClock clock = new MovableClock(database);
    // Nine o'clock there is still to come everywhere, and history's partitions reach so far.
    LocalDate day = LocalDate.now(ZoneOffset.UTC).plusDays(2);
    List<Person> people = Person.around(zone -> day);
    try (GreetingDoor door =
        new GreetingDoor(greeting -> heard.add(new Heard(greeting, clock.now())))) {
      try (Server first = start()) {
        Birthdays birthdays = new Birthdays(URI.create(first.url()), KEY);
        door.trust(birthdays.secretOf(door.url()));
        try (Server second = start()) {
          assertThat(second.url()).isNotEqualTo(first.url());
          birthdays.plan(people, NINE, door.url());
          assertThat(forged(door.url())).as("a greeting that nobody signed").isEqualTo(401);
          passMornings(clock, mornings(people, day).headMap(midway(day)));
        }
        passMornings(clock, mornings(people, day).tailMap(midway(day)));
      }
      assertThat(greetingsByName()).allSatisfy((name, times) -> assertThat(times).hasSize(1));

      LocalDate nextYear = day.plusYears(1);
      clock.moveTo(nextYear.plusDays(2).atStartOfDay().toInstant(ZoneOffset.UTC));
      try (Server later = start()) {
        assertThat(later.url()).isNotEmpty();
        Await.until("greeted again", () -> heard.size() == 2 * people.size());
      }
      for (Person person : people) {
        assertThat(greetingsByName().get(person.name()))
            .containsExactly(nine(day, person.zone()), nine(nextYear, person.zone()));
      }
    }
  }

  /** Lets one morning after the other come, and sees who is greeted then. */
  private void passMornings(MovableClock clock, SortedMap<Instant, List<Person>> mornings)
      throws Exception {
    for (Map.Entry<Instant, List<Person>> morning : mornings.entrySet()) {
      int before = heard.size();
      clock.moveTo(morning.getKey());
      Await.until("greeted", () -> heard.size() >= before + morning.getValue().size());
      List<Heard> now = List.copyOf(heard).subList(before, heard.size());
      assertThat(now)
          .extracting(one -> one.greeting().name())
          .containsExactlyInAnyOrderElementsOf(
              morning.getValue().stream().map(Person::name).toList());
      assertThat(now)
          .allSatisfy(
              one -> {
                assertThat(one.greeting().dueAt()).isEqualTo(morning.getKey());
                assertThat(one.at()).as("not early").isAfterOrEqualTo(morning.getKey());
              });
    }
  }

  private static SortedMap<Instant, List<Person>> mornings(List<Person> people, LocalDate day) {
    SortedMap<Instant, List<Person>> mornings = new TreeMap<>();
    for (Person person : people) {
      mornings.computeIfAbsent(nine(day, person.zone()), at -> new ArrayList<>()).add(person);
    }
    assertThat(mornings).hasSizeGreaterThan(20);
    return mornings;
  }

  private Map<String, List<Instant>> greetingsByName() {
    return heard.stream()
        .collect(
            Collectors.groupingBy(
                one -> one.greeting().name(),
                Collectors.mapping(one -> one.greeting().dueAt(), Collectors.toList())));
  }

  private static Instant nine(LocalDate day, ZoneId zone) {
    return day.atTime(NINE).atZone(zone).toInstant();
  }

  private static Instant midway(LocalDate day) {
    return day.atStartOfDay().toInstant(ZoneOffset.UTC).plus(Duration.ofHours(6));
  }

  private static int forged(URI door) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(door)
            .header("webhook-id", "x")
            .header("webhook-timestamp", Long.toString(Instant.now().getEpochSecond()))
            .header("webhook-signature", "v1,AA==")
            .POST(HttpRequest.BodyPublishers.ofString("{}"))
            .build();
    return HttpClient.newHttpClient()
        .send(request, HttpResponse.BodyHandlers.discarding())
        .statusCode();
  }

  private static Server start() {
    return Server.start(
        ServerConfig.of(
            Sources.of(
                Map.of("--port", "0"),
                Map.of(
                    "LOCKSTEP_DATABASE_URL",
                    database.url()
                        + "?user="
                        + database.user()
                        + "&password="
                        + database.password(),
                    "LOCKSTEP_OPERATOR_KEY",
                    KEY,
                    "LOCKSTEP_SAMPLES",
                    "false",
                    "LOCKSTEP_ALLOW_PRIVATE_TARGETS",
                    "true"))),
        System::nanoTime);
  }
}
