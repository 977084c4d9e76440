package dev.lockstep.spring.boot;

import dev.lockstep.job.Job;
import dev.lockstep.job.JobFilter;
import dev.lockstep.job.JobState;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.QueueView;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.ParkedKey;
import dev.lockstep.outbox.SinkLag;
import dev.lockstep.spring.LockstepRuntime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/**
 * {@code /actuator/lockstep}: this node, the queues, the newest dead letters, and how far each sink
 * is. Reads only. Counts whole tables, so it is for people, not for frequent polling.
 */
@Endpoint(id = "lockstep")
public final class LockstepEndpoint {
  private static final int SHOWN = 20;

  private final LockstepRuntime runtime;
  private final Jobs jobs;
  private final Outbox outbox;

  LockstepEndpoint(LockstepRuntime runtime, Jobs jobs, Outbox outbox) {
    this.runtime = runtime;
    this.jobs = jobs;
    this.outbox = outbox;
  }

  /** The state of this node and of the database's queues and streams. */
  @ReadOperation
  public Map<String, Object> lockstep() {
    Map<String, Object> all = new LinkedHashMap<>();
    Map<String, Object> node = new LinkedHashMap<>();
    node.put("problems", runtime.problems());
    runtime.worker().ifPresent(worker -> node.put("ownedShards", worker.ownedShards()));
    runtime.relay().ifPresent(relay -> node.put("ownedPartitions", relay.ownedPartitions()));
    all.put("node", node);
    all.put("queues", jobs.queues().stream().map(LockstepEndpoint::queue).toList());
    all.put(
        "deadLetters",
        jobs.overview(Optional.of(JobState.DEAD), JobFilter.ALL, Optional.empty(), SHOWN).stream()
            .map(LockstepEndpoint::dead)
            .toList());
    all.put("sinks", outbox.lags().stream().map(this::sink).toList());
    return all;
  }

  private static Map<String, Object> queue(QueueView queue) {
    Map<String, Object> one = new LinkedHashMap<>();
    one.put("name", queue.name());
    one.put("paused", queue.paused());
    queue.rateLimit().ifPresent(rate -> one.put("perSecond", rate));
    one.put("scheduled", queue.scheduled());
    one.put("ready", queue.ready());
    one.put("running", queue.running());
    one.put("dead", queue.dead());
    queue.oldestDue().ifPresent(due -> one.put("oldestDueAt", due.toString()));
    return one;
  }

  private static Map<String, Object> dead(Job job) {
    Map<String, Object> one = new LinkedHashMap<>();
    one.put("id", job.id().toString());
    one.put("queue", job.queue());
    one.put("kind", job.kind());
    one.put("attempts", job.attempts());
    job.reason().ifPresent(reason -> one.put("reason", reason));
    job.endedAt().ifPresent(at -> one.put("diedAt", at.toString()));
    return one;
  }

  private Map<String, Object> sink(SinkLag lag) {
    Map<String, Object> one = new LinkedHashMap<>();
    one.put("stream", lag.stream());
    one.put("sink", lag.sink());
    one.put("lagEvents", lag.events());
    one.put("lagSeconds", lag.age().toMillis() / 1000.0);
    one.put("parkedKeys", lag.parkedKeys());
    one.put("waitingKeys", lag.waitingKeys());
    one.put("heldBackEvents", lag.heldBack());
    if (lag.parkedKeys() > 0 || lag.waitingKeys() > 0) {
      List<String> keys =
          outbox.parked(lag.stream(), lag.sink(), Optional.empty(), SHOWN).stream()
              .map(ParkedKey::key)
              .toList();
      one.put("firstBlockedKeys", keys);
    }
    return one;
  }
}
