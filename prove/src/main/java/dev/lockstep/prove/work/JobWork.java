package dev.lockstep.prove.work;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.Op;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Jobs in lanes and outside, with priorities and unique keys, that fail; cancels; schedules. */
final class JobWork implements Workload {
  private static final List<String> PRIORITIES = List.of("HIGH", "NORMAL", "LOW");
  private static final int LANES = 3;
  private static final int UNIQUES = 4;
  private static final int RECENT = 10;
  private static final int POLLS = 300;
  private static final long POLL_MS = 200;
  private static final long PAUSE_MS = 15;

  private final Round round;
  private final AtomicInteger names = new AtomicInteger();
  private final List<String> accepted = new CopyOnWriteArrayList<>();
  private final Map<String, String> schedules = new ConcurrentHashMap<>();

  JobWork(Round round) {
    this.round = round;
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
    TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
  }

  @Override
  public void finish(Client client) throws InterruptedException {
    for (String schedule : schedules.keySet()) {
      client.insist("job.unschedule", Fields.of("schedule", schedule));
    }
    awaitDone(client);
    // Quiet for longer than any job waits before it is run again.
    TimeUnit.MILLISECONDS.sleep(1_000);
    for (String job : accepted) {
      client.insist("final.job", Fields.of("job", job));
    }
    client.insist("final.done", Fields.of("prefix", round.prefix("job")));
  }

  /** The checker reports whatever has not arrived by the end of the wait. */
  private void awaitDone(Client client) throws InterruptedException {
    List<String> open = new ArrayList<>(accepted);
    for (int i = 0; i < POLLS && !open.isEmpty(); i++) {
      while (!open.isEmpty() && isGone(client, open.get(open.size() - 1))) {
        open.remove(open.size() - 1);
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MS);
    }
  }

  private static boolean isGone(Client client, String job) throws InterruptedException {
    return client.ask("final.job", Fields.of("job", job)).text("state", "?").equals("NONE");
  }
}
