package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.outbox.DeliveryCursor.Dispatch;
import dev.lockstep.outbox.DeliveryCursor.Progress;
import dev.lockstep.outbox.EventSource.BacklogRequest;
import dev.lockstep.outbox.EventSource.Batch;
import dev.lockstep.outbox.EventSource.ReadEvent;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/**
 * The cursor alone, against a table in memory, a sink that fails in every way it may, and crashes
 * after which only what was written down is left.
 */
class DeliveryCursorPropertiesTest {
  private static final RelayConfig CONFIG = RelayConfig.named("cursor").withMaxAttempts(3);

  @Property(tries = 300)
  void firstOccurrencesAreInOrderAndNothingIsLost(
      @ForAll long seed,
      @ForAll @IntRange(min = 1, max = 5) int keys,
      @ForAll @IntRange(min = 0, max = 3) int maxInFlight) {
    World world = new World(new Random(seed), keys, 60, maxInFlight);
    for (int i = 0; i < 150; i++) {
      world.step(true);
    }
    world.heal();
    for (int i = 0; i < 50_000 && !world.isDone(); i++) {
      world.step(false);
    }
    assertThat(world.isDone()).isTrue();
    assertThat(world.last).isEqualTo(world.appended);
  }

  @Property(tries = 200)
  void withoutCrashesNothingIsSentTwice(
      @ForAll long seed, @ForAll @IntRange(min = 0, max = 3) int maxInFlight) {
    World world = new World(new Random(seed), 4, 60, maxInFlight);
    world.crashes = false;
    for (int i = 0; i < 50_000 && !world.isDone(); i++) {
      world.step(i < 150);
      if (i == 150) {
        world.heal();
      }
    }
    assertThat(world.isDone()).isTrue();
    assertThat(world.repeats).isZero();
  }

  /** A table, a sink and the cursor between them. Positions are numbers of events. */
  private static final class World {
    private final Random random;
    private final int maxInFlight;
    private final List<ReadEvent> table = new ArrayList<>();
    private final Deque<Dispatch> inFlight = new ArrayDeque<>();
    final Map<String, Long> appended = new HashMap<>();
    final Map<String, Long> last = new HashMap<>();
    int repeats;
    boolean crashes = true;
    private long now;
    private DeliveryCursor cursor;
    private CursorPosition writtenAt = CursorPosition.at("0");
    private final Map<String, BlockedKey> written = new HashMap<>();

    World(Random random, int keys, int events, int maxInFlight) {
      this.random = random;
      this.maxInFlight = maxInFlight;
      for (int i = 0; i < events; i++) {
        String key = "k" + random.nextInt(keys);
        long seq = appended.merge(key, 1L, Long::sum);
        Event event = new Event(i, "s", key, seq, "t", Content.json(""), Map.of(), Instant.EPOCH);
        table.add(new ReadEvent(event, Integer.toString(i)));
      }
      this.cursor = load();
    }

    private DeliveryCursor load() {
      inFlight.clear();
      List<BlockedKey> blocked = new ArrayList<>();
      written.values().forEach(one -> blocked.add(copy(one)));
      CursorLife life = new CursorLife(writtenAt, CursorLife.Observer.NONE);
      return new DeliveryCursor(life, CONFIG, maxInFlight, writtenAt, 0, blocked);
    }

    private BlockedKey copy(BlockedKey one) {
      BlockedKey copy = new BlockedKey(one.key, one.seq, one.ord);
      copy.version = one.version;
      copy.attempts = one.attempts;
      if (one.isParked()) {
        copy.park();
      } else {
        copy.retryAt(now + one.retryInNanos(now));
      }
      return copy;
    }

    void step(boolean faults) {
      now += 50_000_000;
      switch (random.nextInt(6)) {
        case 0 -> read();
        case 1 -> backlog();
        case 2 -> inFlight.addAll(cursor.next());
        case 3, 4 -> answer(faults);
        default -> {
          if (faults && crashes && random.nextInt(8) == 0) {
            cursor = load();
          } else {
            write();
          }
        }
      }
    }

    private void read() {
      if (!cursor.wantsEvents(now)) {
        return;
      }
      int from =
          Integer.parseInt(
              cursor.readFrom().target() == null
                  ? cursor.readFrom().done()
                  : cursor.readFrom().ord());
      int to = Math.min(table.size(), from + random.nextInt(8));
      // A step that is not at its end has to be gone on with.
      CursorPosition after =
          random.nextBoolean()
              ? CursorPosition.at(Integer.toString(to))
              : cursor.readFrom().within("target", Integer.toString(to), 0);
      cursor.addEvents(new Batch(table.subList(from, to), after));
    }

    private void backlog() {
      if (!cursor.wantsBacklog(now)) {
        return;
      }
      int behind = Integer.parseInt(cursor.readFrom().done());
      List<BacklogRequest> asks = cursor.backlogRequests(now);
      int maxRows = 1 + random.nextInt(3);
      List<ReadEvent> rows = new ArrayList<>();
      for (BacklogRequest ask : asks) {
        table.subList(0, behind).stream()
            .filter(row -> row.event().key().equals(ask.key()) && row.event().seq() >= ask.seq())
            .limit(maxRows)
            .forEach(rows::add);
      }
      cursor.addBacklog(asks, rows, maxRows, true);
    }

    private void answer(boolean faults) {
      Dispatch send = inFlight.poll();
      if (send == null) {
        return;
      }
      List<SinkResult> results = new ArrayList<>();
      Map<String, Boolean> failed = new HashMap<>();
      boolean down = false;
      for (Event event : send.events()) {
        SinkResult result = faults ? anyResult() : SinkResult.DELIVERED;
        if (down || failed.containsKey(event.key())) {
          result = down ? new SinkResult.Down("still") : anyFailure();
        }
        if (result instanceof SinkResult.Delivered) {
          deliver(event);
        } else {
          failed.put(event.key(), true);
          down = result instanceof SinkResult.Down;
        }
        results.add(result);
      }
      var unused = cursor.apply(send, results, now);
    }

    /** A sink that judges what is behind a failure must do no harm. */
    private SinkResult anyFailure() {
      return switch (random.nextInt(3)) {
        case 0 -> new SinkResult.Poison("bad, too");
        case 1 -> new SinkResult.RetryLater("again, too");
        default -> SinkResult.UNSENT;
      };
    }

    private SinkResult anyResult() {
      return switch (random.nextInt(10)) {
        case 0 -> new SinkResult.Poison("bad");
        case 1 -> new SinkResult.RetryLater("again");
        case 2 -> new SinkResult.Down("down");
        case 3 -> SinkResult.UNSENT;
        default -> SinkResult.DELIVERED;
      };
    }

    private void deliver(Event event) {
      long before = last.getOrDefault(event.key(), 0L);
      assertThat(event.seq()).as("no gap in %s", event.key()).isLessThanOrEqualTo(before + 1);
      if (event.seq() <= before) {
        repeats++;
      }
      last.put(event.key(), Math.max(before, event.seq()));
    }

    private void write() {
      Progress progress = cursor.progress();
      writtenAt = progress.reached();
      progress.freed().keySet().forEach(written::remove);
      Map<String, Integer> versions = new HashMap<>();
      for (BlockedKey one : progress.blocked()) {
        versions.put(one.key, one.version + 1);
        BlockedKey stored = copy(one);
        stored.version = one.version + 1;
        written.put(one.key, stored);
      }
      cursor.written(progress, versions);
    }

    /** An operator has every key tried again. */
    void heal() {
      write();
      written.values().forEach(one -> one.retryAt(now));
      if (crashes) {
        cursor = load();
      } else {
        cursor.blocked().forEach(one -> one.retryAt(now));
      }
    }

    boolean isDone() {
      return last.equals(appended) && inFlight.isEmpty();
    }
  }
}
