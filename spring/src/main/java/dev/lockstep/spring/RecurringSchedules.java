package dev.lockstep.spring;

import dev.lockstep.cron.CronTimes;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.NewSchedule;
import dev.lockstep.job.Recurrence;
import dev.lockstep.job.Recurrence.Gap;
import dev.lockstep.job.Recurrence.Overlap;
import dev.lockstep.job.Schedule;
import dev.lockstep.job.ScheduleId;
import dev.lockstep.job.Schedules;
import dev.lockstep.tx.AdvisoryLocks;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Makes the schedules of {@link Recurring} methods, once over all nodes and deployments. */
public final class RecurringSchedules {
  private static final String LOCK = "lockstep recurring methods";
  private static final int PAGE = 1_000;
  private static final String PREFIX = "cron|";

  private RecurringSchedules() {}

  /**
   * Reads the specs of {@link Recurring} methods, {@code cron|zone|gap|overlap|expression}, and
   * leaves all others to another reader.
   */
  public static Function<String, Recurrence> reader(Function<String, Recurrence> others) {
    return spec -> {
      String[] parts = spec.split("\\|", 5);
      return spec.startsWith(PREFIX) && parts.length == 5
          ? new Recurrence(
              CronTimes.parse(parts[4]),
              ZoneId.of(parts[1]),
              Gap.valueOf(parts[2]),
              Overlap.valueOf(parts[3]))
          : others.apply(spec);
    };
  }

  /** Creates what is missing and changes what differs, one node at a time. */
  static void ensure(
      Transactor transactor, Schedules schedules, List<BeanMethod<Recurring>> methods) {
    Map<String, NewSchedule> wanted =
        methods.stream()
            .collect(
                Collectors.toMap(
                    method -> method.annotation().name(), method -> schedule(method.annotation())));
    if (wanted.isEmpty()) {
      return;
    }
    transactor.run(
        connection -> {
          AdvisoryLocks.lock(connection, LOCK);
          Map<String, Schedule> there = existing(schedules, wanted);
          wanted.forEach((name, one) -> ensure(connection, schedules, there.get(name), one));
        });
  }

  private static void ensure(
      Connection connection, Schedules schedules, @Nullable Schedule there, NewSchedule wanted) {
    if (there == null) {
      schedules.create(connection, wanted);
    } else if (!there.content().equals(wanted)) {
      schedules.change(connection, there.id(), OptionalInt.empty(), wanted);
    }
  }

  private static Map<String, Schedule> existing(
      Schedules schedules, Map<String, NewSchedule> wanted) {
    Map<String, Schedule> found = new HashMap<>();
    Optional<ScheduleId> before = Optional.empty();
    List<Schedule> page;
    do {
      page = schedules.list(before, PAGE);
      for (Schedule one : page) {
        if (wanted.containsKey(one.content().name())) {
          found.put(one.content().name(), one);
        }
        before = Optional.of(one.id());
      }
    } while (page.size() == PAGE);
    return found;
  }

  private static NewSchedule schedule(Recurring recurring) {
    String spec =
        PREFIX
            + String.join(
                "|",
                recurring.zone(),
                recurring.gap().name(),
                recurring.overlap().name(),
                recurring.cron());
    return new NewSchedule(
        recurring.name(),
        spec,
        NewJob.of(recurring.queue(), recurring.name(), "null"),
        recurring.catchUp());
  }
}
