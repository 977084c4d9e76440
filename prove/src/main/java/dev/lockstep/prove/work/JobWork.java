package dev.lockstep.prove.work;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.Op;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Jobs that fail, in lanes and outside, with priorities and unique keys; cancels; schedules. */
final class JobWork implements Workload {
  private static final List<String> PRIORITIES = List.of("HIGH", "NORMAL", "LOW");
  private static final int LANES = 12;
  private static final int UNIQUES = 10;
  private static final int RECENT = 10;
  private static final int POLLS = 300;
  private static final long POLL_MS = 200;
  private static final long PAUSE_MS = 50;
  private static final int MOST_WAITING = 100;

  private final Round round;
  private final AtomicInteger names = new AtomicInteger();
  private final List<String> accepted = new CopyOnWriteArrayList<>();
  private final Set<String> begun = ConcurrentHashMap.newKeySet();
  private final Map<String, String> schedules = new ConcurrentHashMap<>();

  JobWork(Round round) {
    this.round = round;
    round.hears(this);
  }

  @Override
  public void heard(String verb, Fields fields) {
    if (verb.equals("job.began")) {
      begun.add(fields.text("job"));
    }
  }

  private String name() {
    return round.prefix("job") + names.incrementAndGet();
  }

  @Override
  public void prepare(Client client) throws InterruptedException {
    for (int i = 0; i < 2; i++) {
      String name = round.prefix("job") + "tick" + i;
      Op made = client.call("job.schedule", Fields.of("name", name, "every", 1));
      if (made.ok()) {
        schedules.put(made.result().text("schedule"), name);
      }
    }
  }

  @Override
  public void step(Client client) throws InterruptedException {
    if (client.chance(10) && !accepted.isEmpty()) {
      int back = Math.min(accepted.size(), RECENT);
      String job = accepted.get(accepted.size() - 1 - client.below(back));
      client.call("job.cancel", Fields.of("job", job));
      return;
    }
    Fields job =
        Fields.of(
            "name", name(),
            "fails", client.chance(20) ? 1 + client.below(2) : 0,
            "ms", client.chance(2) ? 2_600 : client.below(30));
    int kind = client.below(100);
    if (kind < 45) {
      job = job.with("lane", round.prefix("lane") + client.below(LANES)).with("ms", 3);
    } else if (kind < 60) {
      job = job.with("unique", round.prefix("unique") + client.below(UNIQUES));
    } else {
      job = job.with("priority", client.pick(PRIORITIES));
    }
    Op op = client.call("job.enqueue", job);
    if (op.ok()) {
      accepted.add(op.result().text("job"));
    }
    // The handlers have to keep up.
    if (accepted.size() > begun.size() + MOST_WAITING) {
      TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
    }
  }

  @Override
  public void finish(Client client) throws InterruptedException {
    for (String schedule : schedules.keySet()) {
      client.insist("job.unschedule", Fields.of("schedule", schedule));
    }
    Map<String, String> left = awaitDone(client);
    // Quiet for longer than any job waits before it is run again.
    TimeUnit.MILLISECONDS.sleep(1_000);
    Op done = client.insist("final.done", Fields.of("prefix", round.prefix("job")));
    for (String job : accepted) {
      client.found(
          done,
          "final.job",
          Fields.of("job", job),
          Fields.of("state", left.getOrDefault(job, "NONE")));
    }
  }

  /** Waits until no job is left; the checker reports those left after the wait. */
  private Map<String, String> awaitDone(Client client) throws InterruptedException {
    Map<String, String> left = new HashMap<>();
    for (int i = 0; i < POLLS; i++) {
      left.clear();
      Op op = client.seek("final.left", Fields.of("text", "name=" + round.prefix("job")));
      for (String each : op.result().parts("left", ",")) {
        left.put(each.split(":", -1)[0], each.split(":", -1)[1]);
      }
      if (left.isEmpty()) {
        break;
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MS);
    }
    return left;
  }
}
