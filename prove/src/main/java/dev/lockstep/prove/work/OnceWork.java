package dev.lockstep.prove.work;

import dev.lockstep.prove.history.Fields;
import java.util.concurrent.atomic.AtomicInteger;

/** Requests that come twice, at once or later, and sometimes with different content. */
final class OnceWork implements Workload {
  private static final int AHEAD = 6;

  private final Round round;
  private final AtomicInteger keys = new AtomicInteger(1);

  OnceWork(Round round) {
    this.round = round;
  }

  @Override
  public void prepare(Client client) {}

  @Override
  public void step(Client client) throws InterruptedException {
    int newest = client.chance(35) ? keys.incrementAndGet() : keys.get();
    int key = Math.max(1, newest - client.below(AHEAD));
    client.call(
        "once.run",
        Fields.of(
            "key",
            round.prefix("once") + key,
            "body",
            client.chance(12) ? "other" : "same",
            "op",
            client.uuid(),
            "pause",
            client.chance(30) ? client.below(25) : 0));
  }

  @Override
  public void finish(Client client) throws InterruptedException {
    client.insist("final.effects", Fields.of("prefix", round.prefix("once")));
  }
}
