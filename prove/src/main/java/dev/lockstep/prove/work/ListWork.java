package dev.lockstep.prove.work;

import dev.lockstep.prove.history.Fields;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Serializable transactions that append to lists and read them, for the isolation checker. */
final class ListWork implements Workload {
  private static final int KEYS = 8;
  private static final int APPENDS_PER_KEY = 60;
  private static final int PAGE = 40;

  private final Round round;
  private final AtomicLong items = new AtomicLong();
  private final AtomicLong appends = new AtomicLong();

  ListWork(Round round) {
    this.round = round;
  }

  @Override
  public void prepare(Client client) {}

  @Override
  public void step(Client client) throws InterruptedException {
    // A key gets few items and is then left alone, so reads stay short.
    int generation = (int) (appends.get() / (KEYS * APPENDS_PER_KEY));
    List<String> steps = new ArrayList<>();
    int count = 1 + client.below(4);
    for (int i = 0; i < count; i++) {
      long key = round.id(generation * KEYS + client.below(KEYS));
      if (client.chance(50)) {
        appends.incrementAndGet();
        steps.add("a." + key + "." + items.incrementAndGet());
      } else {
        steps.add("r." + key);
      }
    }
    client.call(
        "tx.lists",
        Fields.of(
            "steps", String.join(",", steps), "pause", client.chance(25) ? client.below(8) : 0));
  }

  @Override
  public void finish(Client client) throws InterruptedException {
    int last = (int) (appends.get() / (KEYS * APPENDS_PER_KEY) + 1) * KEYS;
    for (int from = 0; from < last; from += PAGE) {
      List<String> steps = new ArrayList<>();
      for (int key = from; key < Math.min(last, from + PAGE); key++) {
        steps.add("r." + round.id(key));
      }
      client.insist("final.lists", Fields.of("steps", String.join(",", steps)));
    }
  }
}
