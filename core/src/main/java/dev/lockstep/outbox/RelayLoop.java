package dev.lockstep.outbox;

import dev.lockstep.outbox.CursorTable.Write;
import dev.lockstep.outbox.CursorTable.Written;
import dev.lockstep.outbox.EventSource.Ask;
import dev.lockstep.outbox.EventSource.KeyAsk;
import dev.lockstep.outbox.EventSource.Look;
import dev.lockstep.outbox.EventSource.Read;
import dev.lockstep.outbox.Lane.Send;
import dev.lockstep.outbox.Streams.Definitions;
import dev.lockstep.outbox.Streams.SinkRow;
import dev.lockstep.shard.Lease;
import dev.lockstep.shard.ShardListener;
import dev.lockstep.tx.LockstepException;
import dev.lockstep.tx.Transactor;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads, hands out, and writes down how far it is: one thread, which alone knows the lanes. Others
 * send it messages. Nothing in it waits for a sink.
 */
final class RelayLoop implements Runnable, ShardListener {
  private static final Logger log = LoggerFactory.getLogger(RelayLoop.class);
  private static final long FIRST_DELAY_NANOS = 4_000_000L;
  // So much more is repeated after a crash, and so much less is written.
  private static final long WRITE_INTERVAL_NANOS = 20_000_000L;
  private static final long PAUSE_NANOS = 100_000_000L;
  private static final long IDLE_WRITE_NANOS = 20_000_000_000L;

  private final Transactor transactor;
  private final EventSource source;
  private final CursorTable cursors;
  private final Territory territory;
  private final RelayConfig config;
  private final Executor executor;
  private final Runnable maintenance;
  private final BlockingQueue<Runnable> messages = new LinkedBlockingQueue<>();
  private long version = -1;
  private long seenVersion = -1;
  private long nextLookNanos = System.nanoTime();
  private long delayNanos = FIRST_DELAY_NANOS;
  private long wroteNanos = System.nanoTime();
  private long idleWriteNanos = System.nanoTime();
  private long maintainNanos = System.nanoTime();
  private volatile boolean stopped;

  RelayLoop(
      Transactor transactor,
      EventSource source,
      Territory territory,
      RelayConfig config,
      Executor executor,
      Runnable maintenance) {
    this.transactor = transactor;
    this.source = source;
    this.cursors = new CursorTable(transactor);
    this.territory = territory;
    this.config = config;
    this.executor = executor;
    this.maintenance = maintenance;
  }

  @Override
  public void taken(Lease lease) {
    messages.add(() -> territory.take(lease));
  }

  @Override
  public CompletionStage<?> handOver(Lease lease) {
    CompletableFuture<Void> over = new CompletableFuture<>();
    messages.add(() -> territory.handOver(lease, over));
    return over;
  }

  @Override
  public void lost(Lease lease) {
    messages.add(() -> territory.lose(lease));
  }

  void wake() {
    messages.add(
        () -> {
          nextLookNanos = System.nanoTime();
          delayNanos = FIRST_DELAY_NANOS;
        });
  }

  /** Whether nothing is on its way or to be written; for tests to await. */
  CompletableFuture<Boolean> isAtRest() {
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    messages.add(
        () ->
            answer.complete(
                territory.places().stream()
                    .allMatch(
                        place ->
                            place.isQuiet()
                                && !place.lane.hasRows()
                                && !place.lane.hasProgress(false))));
    return answer;
  }

  void stop() {
    stopped = true;
    wake();
  }

  @Override
  public void run() {
    try {
      while (!stopped) {
        long waitNanos;
        try {
          turn();
          waitNanos = waitNanos(System.nanoTime());
        } catch (LockstepException | CompletionException e) {
          log.warn("The outbox is not relayed for a moment: {}", e.toString());
          waitNanos = PAUSE_NANOS;
        } catch (RuntimeException e) {
          log.error("The outbox is not relayed for a moment", e);
          waitNanos = PAUSE_NANOS;
        }
        takeMessages(waitNanos);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void takeMessages(long waitNanos) throws InterruptedException {
    Runnable message = messages.poll(waitNanos, TimeUnit.NANOSECONDS);
    while (message != null) {
      try {
        message.run();
      } catch (RuntimeException e) {
        log.error("Something that was to be noted is lost", e);
      }
      message = messages.poll();
    }
  }

  private void turn() {
    maintain();
    readDefinitions();
    loadPlaces();
    readBacklogs();
    look();
    send();
    write();
    territory.finishHandOvers();
  }

  private void maintain() {
    if (System.nanoTime() - maintainNanos >= config.maintenanceInterval().toNanos()) {
      maintainNanos = System.nanoTime();
      executor.execute(maintenance);
    }
  }

  /** Streams, sinks and whatever operators have changed. */
  private void readDefinitions() {
    if (version < 0 || version != seenVersion) {
      Definitions now = transactor.call(transactor.defaults().asReadOnly(), Streams::read);
      territory.define(now);
      version = now.version();
      seenVersion = now.version();
    }
  }

  private void loadPlaces() {
    List<Lease> leases = territory.toLoad();
    if (!leases.isEmpty()) {
      // What they have reached is written before it is read again.
      write();
      cursors.load(leases, System.nanoTime()).forEach(territory::load);
      nextLookNanos = System.nanoTime();
    }
  }

  private void readBacklogs() {
    long now = System.nanoTime();
    for (Place place : territory.places()) {
      if (place.mayBegin(now) && place.lane.wantsBacklog(now)) {
        List<KeyAsk> keys = place.lane.dueKeys(now);
        int maxRows = Math.max(1, config.batchRows() / keys.size());
        List<Read> rows = source.backlog(place.ask(), keys, maxRows, config.batchBytes());
        long bytes = rows.stream().mapToLong(row -> row.event().content().size()).sum();
        place.lane.offerBacklog(keys, rows, maxRows, bytes < config.batchBytes());
      }
    }
  }

  /** One question for all lanes; those at the same position share the answer. */
  private void look() {
    long now = System.nanoTime();
    boolean due = now - nextLookNanos >= 0;
    Map<Ask, List<Place>> asks = new LinkedHashMap<>();
    for (Place place : territory.places()) {
      // Read only between two pauses of a sink, a lane could find its sink down each time: the
      // first
      // event of another that it stumbles over is faster than a look.
      if (place.mayRead() && place.lane.wantsRows(now) && (due || place.lane.isEager())) {
        asks.computeIfAbsent(place.ask(), ask -> new ArrayList<>()).add(place);
      }
    }
    if (asks.isEmpty() && !due) {
      return;
    }
    Look look = read(List.copyOf(asks.keySet()));
    boolean found = false;
    Iterator<EventSource.Batch> batches = look.batches().iterator();
    for (List<Place> sharing : asks.values()) {
      EventSource.Batch batch = batches.next();
      found |= !batch.rows().isEmpty();
      sharing.forEach(place -> place.lane.offer(batch));
    }
    seenVersion = look.version();
    if (due) {
      delayNanos =
          found ? FIRST_DELAY_NANOS : Math.min(2 * delayNanos, config.pollInterval().toNanos());
      nextLookNanos = System.nanoTime() + delayNanos;
    }
  }

  /** When there is much, half of it is read on another connection at the same time. */
  private Look read(List<Ask> asks) {
    if (asks.size() < 2 || asks.stream().noneMatch(ask -> ask.from().isInStep())) {
      return source.look(asks, config.batchRows(), config.batchBytes());
    }
    List<Ask> half = asks.subList(0, asks.size() / 2);
    List<Ask> others = asks.subList(half.size(), asks.size());
    CompletableFuture<Look> otherLook =
        CompletableFuture.supplyAsync(
            () -> source.look(others, config.batchRows(), config.batchBytes()), executor);
    Look look = source.look(half, config.batchRows(), config.batchBytes());
    return look.and(otherLook.join());
  }

  private void send() {
    long now = System.nanoTime();
    for (Place place : territory.places()) {
      if (!place.mayBegin(now)) {
        continue;
      }
      Session session = place.session();
      if (session == null) {
        if (place.lane.hasRows() && place.beginOpening()) {
          open(place);
        }
        continue;
      }
      for (Send send : place.lane.next()) {
        var unused =
            place
                .runner
                .deliver(session, send)
                .thenAccept(results -> messages.add(() -> settle(place, send, results)));
      }
    }
  }

  /** First the sink, which may fence a former owner; then once more the question who owns it. */
  private void open(Place place) {
    var unused =
        place
            .runner
            .open(place.lease.shard(), place.lease.epoch())
            .thenApply(session -> checked(place, session))
            .whenComplete(
                (session, failure) -> messages.add(() -> opened(place, session, failure)));
  }

  /** A sink that opened for a lease which is over is closed, and left alone for a while. */
  private Session checked(Place place, Session session) {
    boolean ours = false;
    try {
      ours = cursors.holds(place.lease);
    } finally {
      if (!ours) {
        session.close();
      }
    }
    if (!ours) {
      throw new IllegalStateException("The lease %s is over".formatted(place.lease));
    }
    return session;
  }

  private void opened(Place place, @Nullable Session session, @Nullable Throwable failure) {
    place.opened(session);
    if (failure != null) {
      trip(place, failure.toString());
    }
  }

  private void settle(Place place, Send send, List<SinkResult> results) {
    Optional<String> down = place.lane.settle(send, results, System.nanoTime());
    if (down.isPresent()) {
      place.closeSession();
      trip(place, down.get());
    } else {
      place.runner.breaker.reset();
    }
  }

  private void trip(Place place, String reason) {
    if (place.runner.breaker.trip(System.nanoTime(), reason)) {
      SinkRow row = place.runner.row;
      log.warn("The sink {} of {} is down: {}", row.spec().name(), row.stream(), reason);
    }
  }

  private void write() {
    long now = System.nanoTime();
    boolean due = now - wroteNanos >= WRITE_INTERVAL_NANOS;
    boolean idle = now - idleWriteNanos >= IDLE_WRITE_NANOS;
    List<Place> places =
        territory.places().stream()
            .filter(p -> p.ending ? p.lane.hasProgress(true) : due && p.lane.hasProgress(idle))
            .toList();
    if (idle) {
      idleWriteNanos = now;
    }
    if (places.isEmpty()) {
      return;
    }
    wroteNanos = now;
    List<Write> writes = places.stream().map(Place::write).toList();
    List<Written> written = cursors.write(writes, now);
    for (int i = 0; i < places.size(); i++) {
      Place place = places.get(i);
      place.lane.wrote(writes.get(i).progress(), written.get(i).versions());
      if (written.get(i).conflict()) {
        territory.readAgain(place.lease);
      }
    }
  }

  /** Until the next look, or until a breaker closes, or until a key's time has come. */
  private long waitNanos(long now) {
    long wait = Math.max(0, nextLookNanos - now);
    if (seenVersion != version) {
      return 0;
    }
    for (Place place : territory.places()) {
      if (place.ending) {
        continue;
      }
      if (place.lane.hasProgress(false)) {
        wait = Math.min(wait, Math.max(0, wroteNanos + WRITE_INTERVAL_NANOS - now));
      }
      long left = place.runner.breaker.leftNanos(now);
      if (left > 0) {
        wait = Math.min(wait, left);
      } else if (place.mayBegin(now) && place.lane.wantsRows(now) && place.lane.isEager()) {
        return 0;
      } else {
        wait = Math.min(wait, place.lane.retryInNanos(now));
      }
    }
    return wait;
  }
}
