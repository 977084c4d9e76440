package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.outbox.CursorLife.Observer;
import dev.lockstep.outbox.CursorLife.Phase;
import dev.lockstep.outbox.CursorLife.ReadPhase;
import dev.lockstep.outbox.CursorLife.SessionPhase;
import dev.lockstep.outbox.CursorLife.WritePhase;
import dev.lockstep.outbox.SinkActionResult.Changed;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.TxWork;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The life of a delivery cursor, watched while real events are delivered. */
class CursorLifeTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);

  /** Every move there is, written a second time on purpose. */
  private static final Set<String> ALLOWED =
      Set.of(
          "ACTIVE → LEAVING",
          "ACTIVE → RELOADING",
          "ACTIVE → STALE",
          "ACTIVE → ENDED",
          "LEAVING → ACTIVE",
          "LEAVING → RELOADING",
          "LEAVING → STALE",
          "LEAVING → ENDED",
          "RELOADING → STALE",
          "RELOADING → ENDED",
          "STALE → ENDED",
          "CLOSED → OPENING",
          "CLOSED → OPEN",
          "OPENING → OPEN",
          "OPENING → CLOSED",
          "OPEN → CLOSED",
          "BETWEEN_STEPS → IN_STEP",
          "BETWEEN_STEPS → AFTER_BACKLOG",
          "IN_STEP → BETWEEN_STEPS",
          "AFTER_BACKLOG → BETWEEN_STEPS",
          "AFTER_BACKLOG → IN_STEP",
          "WRITTEN → DUE",
          "WRITTEN → LOCKED",
          "DUE → WRITTEN",
          "DUE → LOCKED",
          "LOCKED → WRITTEN");

  private record Move(Enum<?> from, Enum<?> to) {
    @Override
    public String toString() {
      return from + " → " + to;
    }
  }

  // By cursor, in the order in which they moved first.
  private final Map<CursorLife, List<Move>> seen = new LinkedHashMap<>();
  private final CountDownLatch go = new CountDownLatch(1);

  @AfterEach
  void onlyAllowedMovesWereMade() {
    go.countDown();
    assertThat(ALLOWED)
        .containsAll(seen().stream().flatMap(List::stream).map(Move::toString).toList());
  }

  @Test
  void theTableHasTheseMovesAndNoOther() {
    Set<String> moves = new TreeSet<>();
    CursorLife.MOVES.forEach((from, all) -> all.forEach(to -> moves.add(from + " → " + to)));

    assertThat(moves).isEqualTo(new TreeSet<>(ALLOWED));
  }

  @Test
  void aMoveThatIsNotInTheTableIsRefused() {
    CursorLife life = new CursorLife(CursorPosition.at("0"), Observer.NONE);
    life.readTo(CursorPosition.at("0").within("1", "1", 1));

    assertThatThrownBy(life::readBacklog)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("from IN_STEP to AFTER_BACKLOG");
  }

  @Test
  void anEndedCursorStaysEnded() {
    CursorLife life = new CursorLife(CursorPosition.at("0"), Observer.NONE);
    life.end();

    life.leave();
    life.stay();
    life.reload();
    life.expire();
    life.end();

    assertThat(life.isEnded()).isTrue();
  }

  @Test
  void anOrdinaryDeliveryOpensASessionAndWritesAndItsHandOverEndsTheCursor() {
    Relay relay = start();
    deliver(1);
    rest(relay);
    assertThat(moves(0, SessionPhase.class)).containsExactly("CLOSED → OPENING", "OPENING → OPEN");
    assertThat(moves(0, WritePhase.class)).startsWith("WRITTEN → DUE", "DUE → WRITTEN");
    assertThat(moves(0, Phase.class)).isEmpty();

    post.stop(relay);

    assertThat(moves(0, Phase.class)).containsExactly("ACTIVE → LEAVING", "LEAVING → ENDED");
    assertThat(moves(0, SessionPhase.class)).endsWith("OPEN → CLOSED");
  }

  @Test
  void aFailingKeyIsReadAgainInTurnWithNewEvents() {
    failing(new SinkResult.RetryLater("busy"));
    Relay relay = start();
    deliver(1);

    awaitMoves(ReadPhase.class, "BETWEEN_STEPS → AFTER_BACKLOG", "AFTER_BACKLOG → BETWEEN_STEPS");
    rest(relay);
    assertThat(moves(0, SessionPhase.class)).containsExactly("CLOSED → OPENING", "OPENING → OPEN");
    assertThat(moves(0, Phase.class)).isEmpty();
  }

  @Test
  void aParkedKeyThatIsRetriedLoadsItsCursorAgainAndKeepsTheSession() {
    failing(new SinkResult.Poison("unreadable"));
    Relay relay = start();
    post.append("a");
    Await.until(
        "parked", () -> database.queryLong("SELECT count(*) FROM lockstep.outbox_parked") == 1);
    rest(relay);
    assertThat(moves(0, Phase.class)).isEmpty();

    act(c -> post.outbox().retry(c, post.stream, "sink", "a", "ann", "mended"));

    post.awaitDelivered(1);
    isLoadedAgain();
  }

  @Test
  void aReplayLoadsItsCursorAgainInTheMiddleOfAStep() {
    Relay relay = start();
    deliver(1);
    rest(relay);

    act(c -> post.outbox().replayAll(c, post.stream, "sink", 1, "ann", "lost"));

    post.awaitDelivered(2);
    isLoadedAgain();
    assertThat(moves(1, ReadPhase.class)).startsWith("IN_STEP → BETWEEN_STEPS");
  }

  private void isLoadedAgain() {
    assertThat(moves(0, Phase.class)).containsExactly("ACTIVE → RELOADING", "RELOADING → ENDED");
    assertThat(moves(0, SessionPhase.class))
        .containsExactly("CLOSED → OPENING", "OPENING → OPEN", "OPEN → CLOSED");
    assertThat(moves(1, SessionPhase.class)).containsExactly("CLOSED → OPEN");
    assertThat(post.sink.opened).hasSize(1);
  }

  @Test
  void aSinkThatIsDownGetsANewSession() {
    failing(new SinkResult.Down("no answer"));
    start();
    deliver(1);

    assertThat(moves(0, SessionPhase.class))
        .containsExactly(
            "CLOSED → OPENING",
            "OPENING → OPEN",
            "OPEN → CLOSED",
            "CLOSED → OPENING",
            "OPENING → OPEN");
  }

  @Test
  void aSessionThatCannotBeOpenedIsOpenedLater() {
    AtomicInteger opened = new AtomicInteger();
    post.sink.opening =
        () -> {
          if (opened.getAndIncrement() == 0) {
            throw new IllegalStateException("not yet");
          }
        };
    start();
    deliver(1);

    assertThat(moves(0, SessionPhase.class))
        .containsExactly(
            "CLOSED → OPENING", "OPENING → CLOSED", "CLOSED → OPENING", "OPENING → OPEN");
  }

  @Test
  void aCursorEndsWithItsLeaseInTheMiddleOfADelivery() throws Exception {
    CountDownLatch delivering = new CountDownLatch(1);
    post.sink.behaviour = hanging(delivering);
    start();
    post.append("a");
    assertThat(delivering.await(60, TimeUnit.SECONDS)).isTrue();

    database.execute("DELETE FROM lockstep.shard_member");

    awaitMoves(Phase.class, "ACTIVE → ENDED");
    go.countDown();
    // By the next cursor.
    post.awaitDelivered(2);
    assertThat(moves(0, Phase.class)).containsExactly("ACTIVE → ENDED");
    assertThat(moves(0, SessionPhase.class)).endsWith("OPEN → CLOSED");
  }

  @Test
  void aRestartOfTheServerMakesItsPositionsStale() {
    Relay relay = start();
    deliver(1);
    rest(relay);

    database.execute("DELETE FROM lockstep.outbox_incarnation");

    awaitMoves(Phase.class, "ACTIVE → STALE", "STALE → ENDED");
    deliver(2);
  }

  @Test
  void aCursorGoesOnWhileTheHandOverWaitsForASlowSink() throws Exception {
    CountDownLatch delivering = new CountDownLatch(Post.PARTITIONS);
    post.define("sink", "slow");
    MemorySink slow = new MemorySink();
    slow.behaviour = hanging(delivering);
    post.start(
        config(),
        this::note,
        SinkTypes.standard()
            .with(
                MemorySink.TYPE, (stream, spec) -> spec.name().equals("slow") ? slow : post.sink));
    post.append(aKeyOfEachPartition());
    assertThat(delivering.await(60, TimeUnit.SECONDS)).isTrue();
    post.awaitDelivered(Post.PARTITIONS);

    Relay second = post.start();

    Await.until(
        "it goes on",
        () -> seen().stream().anyMatch(all -> text(all, Phase.class).contains("LEAVING → ACTIVE")));
    go.countDown();
    Await.until("a share", () -> second.ownedPartitions() == Post.PARTITIONS / 2);
    assertThat(seen().stream().map(all -> text(all, Phase.class)))
        .anySatisfy(
            all ->
                assertThat(all)
                    .startsWith("ACTIVE → LEAVING", "LEAVING → ACTIVE")
                    .endsWith("ACTIVE → LEAVING", "LEAVING → ENDED"));
  }

  @Test
  void progressThatMeetsALockIsWrittenLater() throws Exception {
    Relay relay = start();
    try (Connection somebody = database.connection();
        Statement statement = somebody.createStatement()) {
      somebody.setAutoCommit(false);
      statement.execute("SELECT 1 FROM lockstep.outbox_cursor FOR UPDATE");
      deliver(1);
      awaitMoves(WritePhase.class, "DUE → LOCKED");
      somebody.commit();
    }

    awaitMoves(WritePhase.class, "LOCKED → WRITTEN");
    rest(relay);
    assertThat(moves(0, Phase.class)).isEmpty();
  }

  private void note(CursorLife life, Enum<?> from, Enum<?> to) {
    synchronized (seen) {
      seen.computeIfAbsent(life, unused -> new ArrayList<>()).add(new Move(from, to));
    }
  }

  private List<List<Move>> seen() {
    synchronized (seen) {
      return seen.values().stream().map(List::copyOf).toList();
    }
  }

  private static List<String> text(List<Move> moves, Class<? extends Enum<?>> part) {
    return moves.stream()
        .filter(move -> move.to().getDeclaringClass() == part)
        .map(Move::toString)
        .toList();
  }

  /** The moves of the cursors that had something to deliver. */
  private List<String> moves(int cursor, Class<? extends Enum<?>> part) {
    List<List<Move>> delivering =
        seen().stream().filter(all -> !text(all, SessionPhase.class).isEmpty()).toList();
    return cursor < delivering.size() ? text(delivering.get(cursor), part) : List.of();
  }

  private void awaitMoves(Class<? extends Enum<?>> part, String... moves) {
    Await.until(List.of(moves).toString(), () -> moves(0, part).containsAll(List.of(moves)));
  }

  private static RelayConfig config() {
    return Post.relayConfig().withDeliverTimeout(Duration.ofMinutes(5));
  }

  private Relay start() {
    post.define("sink");
    return post.start(config(), this::note, post.types());
  }

  private static void rest(Relay relay) {
    Await.until("at rest", () -> relay.isAtRest().join());
  }

  private void deliver(int count) {
    post.append("a");
    post.awaitDelivered(count);
  }

  private String[] aKeyOfEachPartition() {
    String[] keys = new String[Post.PARTITIONS];
    for (int part = 0; part < keys.length; part++) {
      int wanted = part;
      keys[part] =
          IntStream.iterate(0, i -> i + 1)
              .mapToObj(i -> "key-" + i)
              .filter(key -> Partitioning.partOf(post.stream, key, Post.PARTITIONS) == wanted)
              .findFirst()
              .orElseThrow();
    }
    return keys;
  }

  private void act(TxWork<SinkActionResult> action) {
    assertThat(post.transactor().call(action)).isEqualTo(new Changed());
  }

  /** The first delivery has this result. */
  private void failing(SinkResult result) {
    AtomicInteger calls = new AtomicInteger();
    post.sink.behaviour = event -> calls.getAndIncrement() == 0 ? result : SinkResult.DELIVERED;
  }

  private Function<Event, SinkResult> hanging(CountDownLatch delivering) {
    return event -> {
      delivering.countDown();
      try {
        assertThat(go.await(120, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return SinkResult.DELIVERED;
    };
  }
}
