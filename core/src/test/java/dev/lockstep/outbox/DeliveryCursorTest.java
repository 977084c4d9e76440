package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.outbox.EventSource.Batch;
import dev.lockstep.outbox.EventSource.ReadEvent;
import dev.lockstep.outbox.DeliveryCursor.Dispatch;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A sink of single events that says it is down: what of its lane may go on, and what waits. */
class DeliveryCursorTest {
  private static final RelayConfig CONFIG = RelayConfig.named("lane");
  private static final SinkResult DOWN = new SinkResult.Down("Answered 500");

  private final DeliveryCursor lane = new DeliveryCursor(CONFIG, 32, CursorPosition.at("0"), 0, List.of());
  private long now;
  private int rows;

  @Test
  void anEventAtWhichItsSinkGoesDownHoldsUpNoOtherKeyOfItsLane() {
    offer(read("bad", 1));
    assertThat(settle(DOWN)).contains("Answered 500");
    assertThat(lane.blocked()).as("nobody is behind it").isEmpty();
    offer(read("bad", 2), read("good", 1));
    assertThat(settle(DOWN)).contains("Answered 500");

    assertThat(lane.blocked()).extracting(one -> one.attempts).containsExactly(0);
    List<Dispatch> sends = lane.next();
    assertThat(keys(sends)).containsExactly("good");
    assertThat(lane.settle(sends.get(0), List.of(SinkResult.DELIVERED), now)).isEmpty();
  }

  @Test
  void itIsTriedAgainBeforeWhatIsBehindIt() {
    offer(read("bad", 1));
    offer(read("good", 1));
    assertThat(settle(DOWN)).isPresent();
    assertThat(settle(SinkResult.DELIVERED)).isEmpty();
    offer(read("bad", 2));
    assertThat(lane.next()).isEmpty();
    now += CONFIG.firstPause().toNanos();
    assertThat(lane.dueKeys(now)).extracting(ask -> ask.seq()).containsExactly(1L);

    // Down again: it goes on waiting, and does not stand in the others' way.
    offerBacklog();
    assertThat(settle(DOWN)).isPresent();
    assertThat(lane.hasRows()).isFalse();
    assertThat(lane.blocked()).extracting(one -> one.seq).containsExactly(1L);
    offer();
    now += CONFIG.firstPause().toNanos();
    offerBacklog();
    for (long seq = 1; seq <= 2; seq++) {
      Dispatch send = lane.next().get(0);
      assertThat(send.events()).extracting(Event::seq).containsExactly(seq);
      assertThat(lane.settle(send, List.of(SinkResult.DELIVERED), now)).isEmpty();
    }

    assertThat(lane.blocked()).isEmpty();
    assertThat(lane.progress().delivered()).isEqualTo(3);
  }

  @Test
  void anOutageSetsFewKeysAsideHoweverManyThereAre() {
    offer(read("k", 1));
    for (int i = 0; i < 2 * DeliveryCursor.MAX_SUSPECTS; i++) {
      if (lane.wantsRows(now)) {
        offer(read("k" + i, 1));
      }
      assertThat(settle(DOWN)).isPresent();
    }

    assertThat(lane.blocked()).hasSize(DeliveryCursor.MAX_SUSPECTS);
  }

  @Test
  void aBatchIsNotTakenApart() {
    DeliveryCursor batches = new DeliveryCursor(CONFIG, 0, CursorPosition.at("0"), 0, List.of());
    batches.offer(new Batch(List.of(read("a", 1), read("b", 1)), CursorPosition.at("2")));

    assertThat(batches.settle(batches.next().get(0), List.of(DOWN, DOWN), now)).isPresent();

    assertThat(batches.blocked()).isEmpty();
    assertThat(batches.next().get(0).events()).hasSize(2);
  }

  private ReadEvent read(String key, long seq) {
    Event event =
        new Event(++rows, "s", key, seq, "t", Content.json("{}"), Map.of(), Instant.EPOCH);
    return new ReadEvent(event, Integer.toString(rows));
  }

  private void offer(ReadEvent... some) {
    assertThat(lane.wantsRows(now)).isTrue();
    lane.offer(new Batch(List.of(some), CursorPosition.at(Integer.toString(rows))));
  }

  private void offerBacklog() {
    assertThat(lane.wantsBacklog(now)).isTrue();
    lane.offerBacklog(lane.dueKeys(now), List.of(read("bad", 1), read("bad", 2)), 10, true);
  }

  /** Answers the one event that is sent next. */
  private Optional<String> settle(SinkResult result) {
    return lane.settle(lane.next().get(0), List.of(result), now);
  }

  private static Stream<String> keys(List<Dispatch> sends) {
    return sends.stream().map(send -> send.events().get(0).key());
  }
}
