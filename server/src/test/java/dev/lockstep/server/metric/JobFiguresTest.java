package dev.lockstep.server.metric;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.job.QueueView;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class JobFiguresTest {
  private final Metrics metrics = new Metrics();
  private final JobFigures figures = new JobFigures(metrics);

  @Test
  void everyQueueIsShownAndTheServersOwnFromTheStart() {
    figures.onStart(List.of("mail"), List.of());
    assertThat(lines()).contains("lockstep_queue_jobs{queue=\"mail\",state=\"dead\"} 0.0");

    figures.onQueues(List.of(queue("claimers", 3, true)));

    assertThat(lines())
        .contains(
            "lockstep_queue_jobs{queue=\"mail\",state=\"dead\"} 0.0",
            "lockstep_queue_jobs{queue=\"claimers\",state=\"dead\"} 3.0",
            "lockstep_queue_paused{queue=\"claimers\"} 1.0",
            "lockstep_queue_oldest_due_age_seconds{queue=\"claimers\"} 0.0");
  }

  @Test
  void aQueueThatIsGoneIsShownNoMore() {
    figures.onQueues(List.of(queue("claimers", 3, false)));
    figures.onQueues(List.of());

    assertThat(lines()).noneMatch(line -> line.contains("claimers"));
  }

  @Test
  void soManyAreShownOneByOneAndTheRestTogether() {
    figures.onStart(List.of("mail"), List.of());
    List<QueueView> queues =
        new ArrayList<>(IntStream.range(0, 200).mapToObj(i -> queue("q" + i, i, false)).toList());
    queues.add(queue("mail", 0, false));
    figures.onQueues(queues);

    List<String> dead = lines().stream().filter(line -> line.contains("state=\"dead\"")).toList();
    int alone = JobFigures.MAX_QUEUES - 1;
    int rest = IntStream.range(0, 200 - alone).sum();
    assertThat(dead)
        .hasSize(JobFigures.MAX_QUEUES + 1)
        .contains(
            "lockstep_queue_jobs{queue=\"mail\",state=\"dead\"} 0.0",
            "lockstep_queue_jobs{queue=\"q199\",state=\"dead\"} 199.0",
            "lockstep_queue_jobs{queue=\"other\",state=\"dead\"} " + rest + ".0");
  }

  private List<String> lines() {
    return metrics.scrape().lines().toList();
  }

  private static QueueView queue(String name, long dead, boolean paused) {
    return new QueueView(name, paused, OptionalDouble.empty(), 0, 0, 0, dead, 0, Optional.empty());
  }
}
