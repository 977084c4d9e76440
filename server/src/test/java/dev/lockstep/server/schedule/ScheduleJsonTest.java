package dev.lockstep.server.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.job.NewJob;
import dev.lockstep.job.NewSchedule;
import dev.lockstep.job.Recurrence.CatchUp;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class ScheduleJsonTest {
  private static final Instant NOW = Instant.parse("2030-01-31T12:00:00.001Z");

  /** It was to come when it was looked at; a schedule without a time to come never runs. */
  @Test
  void anInstantThatPassesBeforeItIsWrittenBecomesTheNextSecond() {
    NewSchedule passed = schedule("{\"at\":\"2030-01-31T12:00:00Z\"}");

    NewSchedule written = ScheduleJson.stillToCome(passed, NOW);

    assertThat(written).isEqualTo(schedule("{\"at\":\"2030-01-31T12:00:01Z\"}"));
    assertThat(ScheduleJson.stillToCome(written, NOW)).isSameAs(written);
    NewSchedule daily = schedule("{\"cron\":\"0 9 * * *\",\"zone\":\"UTC\"}");
    assertThat(ScheduleJson.stillToCome(daily, NOW)).isSameAs(daily);
  }

  private static NewSchedule schedule(String spec) {
    return new NewSchedule("s", spec, NewJob.of("q", "k", "{}"), CatchUp.LATEST);
  }
}
