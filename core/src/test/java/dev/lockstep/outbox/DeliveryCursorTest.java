package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.outbox.DeliveryCursor.Dispatch;
import dev.lockstep.outbox.EventSource.Batch;
import dev.lockstep.outbox.EventSource.ReadEvent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A sink of single events that says it is down: which keys go on, and which wait. */
class DeliveryCursorTest {
  private static final RelayConfig CONFIG = RelayConfig.named("cursor");
  private static final SinkResult DOWN = new SinkResult.Down("Answered 500");

  private final DeliveryCursor cursor = cursor(32);
  private long now;
  private int rows;

  @Test
  void anEventAtWhichItsSinkGoesDownHoldsUpNoOtherKey() {
    offer(read("bad", 1));
    assertThat(settle(DOWN)).contains("Answered 500");
    assertThat(cursor.blocked()).as("nobody is behind it").isEmpty();
    offer(read("bad", 2), read("good", 1));
    assertThat(settle(DOWN)).contains("Answered 500");

    assertThat(cursor.blocked()).extracting(one -> one.attempts).containsExactly(0);
    List<Dispatch> sends = cursor.next();
    assertThat(keys(sends)).containsExactly("good");
    assertThat(cursor.apply(sends.get(0), List.of(SinkResult.DELIVERED), now)).isEmpty();
  }

  @Test
  void itIsTriedAgainBeforeWhatIsBehindIt() {
    offer(read("bad", 1));
    offer(read("good", 1));
    assertThat(settle(DOWN)).isPresent();
    assertThat(settle(SinkResult.DELIVERED)).isEmpty();
    offer(read("bad", 2));
    assertThat(cursor.next()).isEmpty();
    now += CONFIG.firstPause().toNanos();
    assertThat(cursor.backlogRequests(now)).extracting(ask -> ask.seq()).containsExactly(1L);

    // Down again: it goes on waiting, and does not stand in the others' way.
    offerBacklog();
    assertThat(settle(DOWN)).isPresent();
    assertThat(cursor.hasEvents()).isFalse();
    assertThat(cursor.blocked()).extracting(one -> one.seq).containsExactly(1L);
    offer();
    now += CONFIG.firstPause().toNanos();
    offerBacklog();
    for (long seq = 1; seq <= 2; seq++) {
      Dispatch send = cursor.next().get(0);
      assertThat(send.events()).extracting(Event::seq).containsExactly(seq);
      assertThat(cursor.apply(send, List.of(SinkResult.DELIVERED), now)).isEmpty();
    }

    assertThat(cursor.blocked()).isEmpty();
    assertThat(cursor.progress().delivered()).isEqualTo(3);
  }

  @Test
  void anOutageSetsFewKeysAsideHoweverManyThereAre() {
    offer(read("k", 1));
    for (int i = 0; i < 2 * DeliveryCursor.MAX_SUSPECTS; i++) {
      if (cursor.wantsEvents(now)) {
        offer(read("k" + i, 1));
      }
      assertThat(settle(DOWN)).isPresent();
    }

    assertThat(cursor.blocked()).hasSize(DeliveryCursor.MAX_SUSPECTS);
  }

  @Test
  void keysAreSetAsideForAsLongAsOthersAreDelivered() {
    offer(read("k0", 1));
    for (int i = 1; i <= 2 * DeliveryCursor.MAX_SUSPECTS; i++) {
      offer(read("k" + i, 1), read("good", i));
      assertThat(settle(DOWN)).isPresent();
      settleAll(key -> key.equals("good") ? SinkResult.DELIVERED : DOWN);
    }

    assertThat(cursor.blocked()).hasSizeGreaterThan(DeliveryCursor.MAX_SUSPECTS);
    assertThat(cursor.progress().delivered()).isEqualTo(2L * DeliveryCursor.MAX_SUSPECTS);
  }

  @Test
  void keysThatAnOperatorReleasedAreNoSuspects() {
    List<BlockedKey> released = new ArrayList<>();
    for (int i = 0; i < DeliveryCursor.MAX_SUSPECTS; i++) {
      BlockedKey one = new BlockedKey("released" + i, 1, "0");
      one.retryAt(now);
      released.add(one);
    }
    DeliveryCursor loaded = cursor(32, released);
    loaded.addEvents(new Batch(List.of(read("bad", 1)), CursorPosition.at("1")));
    loaded.addEvents(new Batch(List.of(read("good", 1)), CursorPosition.at("2")));

    assertThat(loaded.apply(loaded.next().get(0), List.of(DOWN), now)).isPresent();

    assertThat(keys(loaded.next())).containsExactly("good");
  }

  @Test
  void afterAnOutageAnEventThatItsSinkNeverTakesIsSetAside() {
    offer(read("k", 1));
    for (int i = 0; i < 2 * DeliveryCursor.MAX_SUSPECTS; i++) {
      if (cursor.wantsEvents(now)) {
        offer(read("k" + i, 1));
      }
      settle(DOWN);
    }
    assertThat(cursor.blocked()).hasSize(DeliveryCursor.MAX_SUSPECTS);

    now += CONFIG.maxPause().toNanos();
    settle(DOWN);

    assertThat(cursor.blocked()).hasSize(DeliveryCursor.MAX_SUSPECTS + 1);
    assertThat(settle(SinkResult.DELIVERED)).as("the event behind it").isEmpty();
  }

  @Test
  void aBatchIsNotTakenApart() {
    DeliveryCursor batches = cursor(0);
    batches.addEvents(new Batch(List.of(read("a", 1), read("b", 1)), CursorPosition.at("2")));

    assertThat(batches.apply(batches.next().get(0), List.of(DOWN, DOWN), now)).isPresent();

    assertThat(batches.blocked()).isEmpty();
    assertThat(batches.next().get(0).events()).hasSize(2);
  }

  /** A sink must not, but what it skipped is not lost. */
  @Test
  void anEventThatASinkSkippedIsSentAgainThoughTheNextOfItsKeyWasDelivered() {
    DeliveryCursor batches = cursor(0);
    SinkResult later = new SinkResult.RetryLater("not yet");
    batches.addEvents(new Batch(List.of(read("a", 1), read("a", 2)), CursorPosition.at("2")));
    batches.apply(batches.next().get(0), List.of(later, SinkResult.DELIVERED), now);
    now += CONFIG.firstPause().toNanos() * 2;
    List<ReadEvent> again = List.of(read("a", 1), read("a", 2));
    batches.addBacklog(batches.backlogRequests(now), again, 10, true);

    batches.apply(batches.next().get(0), List.of(later, SinkResult.DELIVERED), now);

    assertThat(batches.blocked()).extracting(one -> one.seq).containsExactly(1L);
  }

  private static DeliveryCursor cursor(int maxInFlight) {
    return cursor(maxInFlight, List.of());
  }

  private static DeliveryCursor cursor(int maxInFlight, List<BlockedKey> blocked) {
    CursorPosition start = CursorPosition.at("0");
    CursorLife life = new CursorLife(start, CursorLife.Observer.NONE);
    return new DeliveryCursor(life, CONFIG, maxInFlight, start, 0, blocked);
  }

  private ReadEvent read(String key, long seq) {
    Event event =
        new Event(++rows, "s", key, seq, "t", Content.json("{}"), Map.of(), Instant.EPOCH);
    return new ReadEvent(event, Integer.toString(rows));
  }

  private void offer(ReadEvent... some) {
    assertThat(cursor.wantsEvents(now)).isTrue();
    cursor.addEvents(new Batch(List.of(some), CursorPosition.at(Integer.toString(rows))));
  }

  private void offerBacklog() {
    assertThat(cursor.wantsBacklog(now)).isTrue();
    cursor.addBacklog(
        cursor.backlogRequests(now), List.of(read("bad", 1), read("bad", 2)), 10, true);
  }

  /** Answers the one event that is sent next. */
  private Optional<String> settle(SinkResult result) {
    return cursor.apply(cursor.next().get(0), List.of(result), now);
  }

  /** Answers everything that is sent now. */
  private void settleAll(Function<String, SinkResult> results) {
    for (Dispatch send : cursor.next()) {
      cursor.apply(send, List.of(results.apply(send.events().get(0).key())), now);
    }
  }

  private static Stream<String> keys(List<Dispatch> sends) {
    return sends.stream().map(send -> send.events().get(0).key());
  }
}
