package dev.lockstep.prove.work;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.Op;
import dev.lockstep.prove.history.Status;
import dev.lockstep.prove.node.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** One client: one call at a time, each recorded. Used by one thread. */
public final class Client {
  private static final Duration PATIENCE = Duration.ofSeconds(40);
  private static final int INSISTENCE = 400;
  private static final long PAUSE_MS = 100;
  private static final int PAGE = 200;

  private final Round round;
  private final Traffic traffic;
  private final int number;
  private final Random random;

  Client(Round round, Traffic traffic, int number, long seed) {
    this.round = round;
    this.traffic = traffic;
    this.number = number;
    this.random = new Random(seed);
  }

  public int below(int bound) {
    return random.nextInt(bound);
  }

  public boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  public UUID uuid() {
    return new UUID(random.nextLong(), random.nextLong());
  }

  public <T> T pick(List<T> from) {
    return from.get(random.nextInt(from.size()));
  }

  /** Calls a node that has room. */
  public Op call(String kind, Fields args) throws InterruptedException {
    int node = traffic.choose(random);
    long start = System.nanoTime();
    Answer answer;
    try {
      answer = round.cluster().call(node, kind, args, PATIENCE);
    } finally {
      traffic.done(node);
    }
    return recorded(op(node, kind, args, start, answer));
  }

  /** A call to a shop. */
  interface ShopCall {
    Answer at(int shop) throws InterruptedException;
  }

  /** Calls a running shop and records the call. */
  Op doing(String kind, Fields args, ShopCall call) throws InterruptedException {
    int shop = random.nextInt(round.cluster().shops());
    int node = round.cluster().shopNode(shop);
    for (int i = 0; i < INSISTENCE && !round.cluster().isReady(node); i++) {
      shop = (shop + 1) % round.cluster().shops();
      node = round.cluster().shopNode(shop);
      TimeUnit.MILLISECONDS.sleep(PAUSE_MS / 4);
    }
    long start = System.nanoTime();
    return recorded(op(node, kind, args, start, call.at(shop)));
  }

  /** Records something found at the end. */
  void note(String kind, Fields args, Fields result) {
    long now = System.nanoTime();
    round
        .recorder()
        .add(
            new Op(round.recorder().nextId(), number, -1, kind, args, now, now, Status.OK, result));
  }

  private Op recorded(Op op) throws InterruptedException {
    if (op.failed() && op.result().text("why", "").startsWith("the node is down")) {
      // The call never left, so it says nothing.
      TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
    } else {
      round.recorder().add(op);
    }
    return op;
  }

  /**
   * Calls nodes until one answers; only that call is recorded. For calls that are safe to repeat.
   *
   * @throws IllegalStateException if none ever answers
   */
  public Op insist(String kind, Fields args) throws InterruptedException {
    Op answered = seek(kind, args);
    round.recorder().add(answered);
    return answered;
  }

  /** As {@link #insist}, without recording the call. */
  public Op seek(String kind, Fields args) throws InterruptedException {
    Op last = null;
    for (int i = 0; i < INSISTENCE; i++) {
      int node = Math.floorMod(number + i, round.cluster().size());
      long start = System.nanoTime();
      last = op(node, kind, args, start, round.cluster().call(node, kind, args, PATIENCE));
      boolean exists = last.result().text("why", "").startsWith("ConstraintViolated");
      if (last.ok() || last.refused() || exists) {
        return last;
      }
      TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
    }
    throw new IllegalStateException("Nobody answers: " + last);
  }

  /** Records one of the things that a call read together, as if read alone. */
  public void found(Op together, String kind, Fields args, Fields result) {
    round
        .recorder()
        .add(
            new Op(
                round.recorder().nextId(),
                number,
                together.node(),
                kind,
                args,
                together.start(),
                together.end(),
                Status.OK,
                result));
  }

  /** Asks a node without recording it; empty unless it answers OK. */
  public Fields ask(String kind, Fields args) throws InterruptedException {
    int node = random.nextInt(round.cluster().size());
    Answer answer = round.cluster().call(node, kind, args, PATIENCE);
    return answer.status() == Status.OK ? answer.fields() : Fields.NONE;
  }

  /**
   * Reads records of one group, many at a time, and notes each as found.
   *
   * @param kind of one record; its plural reads many
   * @param id names one record's id; its plural the ids of many
   */
  List<Fields> readAll(String kind, Fields group, String id, List<String> ids)
      throws InterruptedException {
    List<Fields> all = new ArrayList<>();
    for (int from = 0; from < ids.size(); from += PAGE) {
      List<String> page = ids.subList(from, Math.min(ids.size(), from + PAGE));
      Op op = seek(kind + "s", group.with(id + "s", String.join(",", page)));
      List<String> lines = op.result().parts("found", ";");
      for (int i = 0; i < page.size(); i++) {
        Fields found = Fields.parse(lines.get(i));
        found(op, kind, group.with(id, page.get(i)), found);
        all.add(found);
      }
    }
    return all;
  }

  private Op op(int node, String kind, Fields args, long start, Answer answer) {
    long end = answer.status() == Status.UNKNOWN ? Op.NEVER : System.nanoTime();
    return new Op(
        round.recorder().nextId(),
        number,
        node,
        kind,
        args,
        start,
        end,
        answer.status(),
        answer.fields());
  }
}
