package dev.lockstep.prove.work;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.Op;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Events of many keys, in slow and aborting transactions, to sinks that fail. */
final class OutboxWork implements Workload {
  static final List<String> SINKS = List.of("a", "b");
  private static final int KEYS = 40;
  private static final int POLLS = 300;
  private static final long POLL_MS = 200;

  private final Round round;
  private final String prefix;
  private final Random failures;
  // Guarded by the round: the newest sequence that each sink took, by sink and key.
  private final Map<String, Long> taken = new HashMap<>();

  OutboxWork(Round round, long seed) {
    this.round = round;
    this.prefix = round.prefix("out");
    this.failures = new Random(seed);
    round.receives(prefix, this);
  }

  @Override
  public void prepare(Client client) throws InterruptedException {
    client.insist("outbox.define", Fields.of("sinks", String.join(",", SINKS)));
  }

  @Override
  public void step(Client client) throws InterruptedException {
    if (client.chance(4)) {
      operate(client);
      return;
    }
    List<String> keys = new ArrayList<>();
    int count = client.chance(70) ? 1 : 2 + client.below(2);
    for (int i = 0; i < count; i++) {
      String key = prefix + client.below(KEYS);
      if (!keys.contains(key)) {
        keys.add(key);
      }
    }
    client.call(
        "outbox.append",
        Fields.of(
            "keys", String.join(",", keys),
            "body", client.uuid(),
            "before", client.chance(20) ? client.below(20) : 0,
            "after", client.chance(20) ? client.below(40) : 0,
            "abort", client.chance(10),
            "late", client.chance(20)));
  }

  /** Acts as an operator: skips or retries a parked key, or replays a key. */
  private void operate(Client client) throws InterruptedException {
    String sink = client.pick(SINKS);
    if (client.chance(40)) {
      Fields replay =
          Fields.of("sink", sink, "key", prefix + client.below(KEYS), "seq", 1 + client.below(5));
      client.call("outbox.replay", replay);
      return;
    }
    for (String[] parked : parked(client, sink)) {
      Fields named = Fields.of("sink", sink, "key", parked[0], "seq", parked[1]);
      client.call(client.chance(30) ? "outbox.skip" : "outbox.retry", named);
      return;
    }
  }

  private List<String[]> parked(Client client, String sink) throws InterruptedException {
    Fields found = client.ask("final.parked", Fields.of("sink", sink, "prefix", prefix));
    return found.parts("parked", ",").stream()
        .map(each -> each.split(":", -1))
        .filter(parts -> parts[2].equals("p"))
        .toList();
  }

  @Override
  public String deliver(Fields event, boolean calm) {
    int what = calm ? 1_000 : failures.nextInt(1_000);
    String result = what < 25 ? "retry" : what < 29 ? "poison" : what < 31 ? "down" : "ok";
    if (result.equals("ok")) {
      taken.merge(event.text("sink") + "/" + event.text("key"), event.number("seq"), Math::max);
    }
    return result;
  }

  @Override
  public void finish(Client client) throws InterruptedException {
    Map<String, Long> last = new HashMap<>();
    for (int i = 0; i < KEYS; i++) {
      String key = prefix + i;
      Op op = client.insist("final.events", Fields.of("key", key));
      List<String> events = op.result().parts("events", ",");
      last.put(
          key,
          events.isEmpty() ? 0 : Long.parseLong(events.get(events.size() - 1).split(":", -1)[0]));
    }
    for (int i = 0; i < POLLS; i++) {
      for (String sink : SINKS) {
        for (String[] parked : parked(client, sink)) {
          client.insist(
              "outbox.retry", Fields.of("sink", sink, "key", parked[0], "seq", parked[1]));
        }
      }
      if (allTaken(last)) {
        return;
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MS);
    }
  }

  private boolean allTaken(Map<String, Long> last) {
    synchronized (round) {
      return last.entrySet().stream()
          .allMatch(
              each ->
                  SINKS.stream()
                      .allMatch(
                          sink ->
                              taken.getOrDefault(sink + "/" + each.getKey(), 0L)
                                  >= each.getValue()));
    }
  }
}
