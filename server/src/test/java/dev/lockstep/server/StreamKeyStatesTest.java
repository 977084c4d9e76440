package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.Event;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.Relay;
import dev.lockstep.outbox.RelayConfig;
import dev.lockstep.outbox.Session;
import dev.lockstep.outbox.SessionLease;
import dev.lockstep.outbox.Sink;
import dev.lockstep.outbox.SinkActionResult;
import dev.lockstep.outbox.SinkResult;
import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.outbox.SinkTypes;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What a sink and an operator do to a key of a stream, against the diagram in docs/concepts.md. A
 * key that flows has no row in {@code outbox_parked}; a trigger notes every move of those that
 * have.
 */
@Timeout(120)
class StreamKeyStatesTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private static final String STREAM = "trades";
  private static final String SINK = "desk";

  private static final String NOTE_MOVES =
      """
      CREATE TABLE public.move (id bigint GENERATED ALWAYS AS IDENTITY, key text, came text, went text);
      CREATE FUNCTION public.note_move() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE
        came text := CASE WHEN TG_OP = 'INSERT' THEN 'flowing'
                          WHEN OLD.retry_at IS NULL THEN 'parked' ELSE 'waiting' END;
        went text := CASE WHEN TG_OP = 'DELETE' THEN 'flowing'
                          WHEN NEW.retry_at IS NULL THEN 'parked' ELSE 'waiting' END;
      BEGIN
        IF came <> went THEN
          INSERT INTO public.move (key, came, went)
          VALUES (CASE WHEN TG_OP = 'DELETE' THEN OLD.key ELSE NEW.key END, came, went);
        END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER note_move AFTER INSERT OR UPDATE OR DELETE ON lockstep.outbox_parked
        FOR EACH ROW EXECUTE FUNCTION public.note_move();
      """;

  /** A call of the sink that waits for what the test says. */
  private record Call(Event event, CompletableFuture<List<SinkResult>> result) {}

  /** Gives one event at a time to the test. */
  private static final class ScriptedSink implements Sink, Session {
    final BlockingQueue<Call> calls = new LinkedBlockingQueue<>();

    @Override
    public int maxInFlight() {
      return 1;
    }

    @Override
    public Session open(SessionLease lease) {
      return this;
    }

    @Override
    public CompletionStage<List<SinkResult>> deliver(List<Event> events) {
      Call call = new Call(events.get(0), new CompletableFuture<>());
      calls.add(call);
      return call.result();
    }

    @Override
    public void close() {}
  }

  private final StateDiagram diagram =
      new StateDiagram("stream key", List.of("flowing", "waiting", "parked"));
  private final Transactor transactor = new Transactor(database.dataSource());
  private final Outbox outbox = new Outbox(transactor);
  private final ScriptedSink sink = new ScriptedSink();
  private long seen;

  @Test
  void aKeyMovesAsItsDiagramShows() throws Exception {
    database.execute(NOTE_MOVES);
    outbox.define(STREAM, List.of(SinkSpec.of(SINK, "scripted", "")), "test");
    RelayConfig config =
        RelayConfig.named("node")
            .withPollInterval(Duration.ofMillis(20))
            .withPauses(Duration.ofMillis(1), Duration.ofMillis(10))
            .withDeliverTimeout(Duration.ofMinutes(5))
            .withMaxAttempts(2);
    SinkTypes types = SinkTypes.standard().with("scripted", (stream, spec) -> sink);
    try (Relay relay = outbox.relay(config, types)) {
      assertThat(relay.health()).isNotNull();
      failsTwiceAndIsRetried();
      isPoisonAndIsSkipped();
      failsAndIsPoisonAndIsReplayed();
      isReplayedWhileItFlows();
    }
    diagram.checkPage();
  }

  private void failsTwiceAndIsRetried() throws Exception {
    append("a");
    diagram.moved(StateDiagram.NEW, "append", "flowing");
    answer("a", new SinkResult.RetryLater("busy"));
    noteMove("a", "RetryLater");
    answer("a", new SinkResult.RetryLater("busy"));
    noteMove("a", "last RetryLater");
    order(c -> outbox.retry(c, STREAM, SINK, "a", "ann", "mended"));
    noteMove("a", "retry");
    answer("a", SinkResult.DELIVERED);
    noteMove("a", "caught up");
  }

  private void isPoisonAndIsSkipped() throws Exception {
    append("b");
    answer("b", new SinkResult.Poison("unreadable"));
    noteMove("b", "Poison");
    order(c -> outbox.skip(c, STREAM, SINK, "b", 1, "ann", "unreadable"));
    noteMove("b", "skip");
    noteMove("b", "caught up");
  }

  private void failsAndIsPoisonAndIsReplayed() throws Exception {
    append("c");
    answer("c", new SinkResult.RetryLater("busy"));
    noteMove("c", "RetryLater");
    answer("c", new SinkResult.Poison("unreadable"));
    noteMove("c", "Poison");
    order(c -> outbox.replay(c, STREAM, SINK, "c", 1, "ann", "mended"));
    noteMove("c", "replay");
    answer("c", SinkResult.DELIVERED);
    noteMove("c", "caught up");
  }

  private void isReplayedWhileItFlows() throws Exception {
    order(c -> outbox.replay(c, STREAM, SINK, "a", 1, "ann", "lost"));
    noteMove("a", "replay");
    answer("a", SinkResult.DELIVERED);
    noteMove("a", "caught up");
  }

  private void append(String key) {
    NewEvent event = NewEvent.of(STREAM, key, "trade.booked", Content.json("{}"));
    transactor.run(c -> outbox.append(c, event));
  }

  private void order(Function<Connection, SinkActionResult> order) {
    SinkActionResult result = transactor.call(order::apply);
    assertThat(result).isInstanceOf(SinkActionResult.Changed.class);
  }

  private void answer(String key, SinkResult result) throws InterruptedException {
    Call call = sink.calls.poll(90, TimeUnit.SECONDS);
    assertThat(call).as("a delivery of " + key).isNotNull();
    if (call != null) {
      assertThat(call.event().key()).isEqualTo(key);
      call.result().complete(List.of(result));
    }
  }

  private record Move(long id, String key, String from, String to) {}

  /** Awaits the next move of any key: nothing moves unless the test makes it. */
  private void noteMove(String key, String by) throws Exception {
    Await.until(key + " moves by " + by, () -> !nextMove().isEmpty());
    Move move = nextMove().get(0);
    seen = move.id();
    assertThat(move.key()).isEqualTo(key);
    diagram.moved(move.from(), by, move.to());
  }

  private List<Move> nextMove() {
    return database.query(
        "SELECT id, key, came, went FROM public.move WHERE id > ? ORDER BY id LIMIT 1",
        row -> new Move(row.getLong(1), row.getString(2), row.getString(3), row.getString(4)),
        seen);
  }
}
