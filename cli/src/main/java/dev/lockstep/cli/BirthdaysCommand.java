package dev.lockstep.cli;

import dev.lockstep.examples.birthdays.Birthdays;
import dev.lockstep.examples.birthdays.GreetingDoor;
import dev.lockstep.examples.birthdays.GreetingDoor.Greeting;
import dev.lockstep.examples.birthdays.Person;
import java.io.IOException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The birthday example. Exit codes: 0 everybody was greeted, 1 somebody was not or the server
 * refused, 2 wrong use.
 */
@Command(
    name = "birthdays",
    description =
        "Greet people all around the world on their birthday, in their own morning: an example.")
final class BirthdaysCommand implements Callable<Integer> {
  private static final LocalTime NINE = LocalTime.of(9, 0);
  private static final long TIME_TO_PLAN_SECONDS = 20;
  private static final long PATIENCE_SECONDS = 120;

  @Option(
      names = "--soon",
      description =
          "Everybody's birthday is today, and it is nearly time: greets within two minutes, then"
              + " removes its schedules.")
  private boolean soon;

  @Mixin private final RunningServerOptions server = new RunningServerOptions();
  @Mixin private final Console console = new Console();

  @Override
  public Integer call() throws InterruptedException {
    Birthdays birthdays =
        new Birthdays(server.address(), RunningServerOptions.operatorKey("birthdays", null));
    BlockingQueue<Greeting> greetings = new LinkedBlockingQueue<>();
    try (GreetingDoor door = new GreetingDoor(greetings::add)) {
      door.trust(birthdays.secretOf(door.url()));
      return soon ? greetSoon(birthdays, door, greetings) : greetAtNine(birthdays, door, greetings);
    } catch (IOException e) {
      return console.fail(String.valueOf(e.getMessage()));
    }
  }

  /** Prints greetings until it is interrupted. */
  private int greetAtNine(Birthdays birthdays, GreetingDoor door, BlockingQueue<Greeting> greetings)
      throws IOException, InterruptedException {
    List<Person> people = Person.around(zone -> LocalDate.now(zone).plusDays(1));
    List<String> schedules = birthdays.plan(people, NINE, door.url());
    for (int i = 0; i < people.size(); i++) {
      Person person = people.get(i);
      console.printLine(
          "%-10s %-22s %s"
              .formatted(person.name(), person.zone(), birthdays.next(schedules.get(i))));
    }
    console.printLine(
        "Waiting for their mornings; Ctrl-C ends it. The schedules stay: GET /v1/schedules.");
    while (true) {
      console.printLine(text(greetings.take()));
    }
  }

  private int greetSoon(Birthdays birthdays, GreetingDoor door, BlockingQueue<Greeting> greetings)
      throws IOException, InterruptedException {
    // One moment for everybody, at another local time in each zone. Offsets are whole minutes, so a
    // full minute here is one everywhere.
    ZonedDateTime moment =
        ZonedDateTime.now(ZoneId.of("UTC"))
            .plusSeconds(TIME_TO_PLAN_SECONDS)
            .truncatedTo(ChronoUnit.MINUTES)
            .plusMinutes(1);
    List<String> schedules = new ArrayList<>();
    int greeted = 0;
    for (Person person : Person.around(zone -> local(moment, zone).toLocalDate())) {
      LocalTime time = local(moment, person.zone()).toLocalTime();
      schedules.addAll(birthdays.plan(List.of(person), time, door.url()));
    }
    console.printLine("%d people, greeted at %s".formatted(schedules.size(), moment.toInstant()));
    try {
      while (greeted < schedules.size()) {
        Greeting next = greetings.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (next == null) {
          console.printLine("%d were not greeted".formatted(schedules.size() - greeted));
          return 1;
        }
        console.printLine(text(next));
        greeted++;
      }
    } finally {
      birthdays.remove(schedules);
    }
    console.printLine("Everybody was greeted, once.");
    return 0;
  }

  private static LocalDateTime local(ZonedDateTime moment, ZoneId zone) {
    return moment.withZoneSameInstant(zone).toLocalDateTime();
  }

  private static String text(Greeting greeting) {
    ZonedDateTime local = greeting.dueAt().atZone(ZoneId.of(greeting.zone()));
    return "%s in %s: happy birthday, %s!"
        .formatted(local.toLocalTime(), greeting.zone(), greeting.name());
  }
}
