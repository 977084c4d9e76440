package dev.lockstep.outbox;

import dev.lockstep.outbox.Lane.Send;
import dev.lockstep.outbox.Streams.SinkRow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A sink on this node: opens sessions, delivers, and closes, on threads that may block. */
final class SinkRunner {
  private static final Logger log = LoggerFactory.getLogger(SinkRunner.class);

  final SinkRow row;
  final Breaker breaker;
  private final Sink sink;
  private final Executor executor;
  private final Duration timeout;
  private final List<CompletableFuture<?>> closing = new ArrayList<>();

  SinkRunner(SinkRow row, SinkTypes types, RelayConfig config, Executor executor) {
    this.row = row;
    this.sink = create(row, types);
    this.executor = executor;
    this.timeout = config.deliverTimeout();
    this.breaker = new Breaker(config.firstPause(), config.maxPause());
  }

  /** One that cannot be made is down, and says why; its definition has to change. */
  private static Sink create(SinkRow row, SinkTypes types) {
    try {
      return types.create(row.stream(), row.spec());
    } catch (RuntimeException e) {
      log.error("The sink {} of {} cannot be made", row.spec().name(), row.stream(), e);
      return new BrokenSink(e);
    }
  }

  private record BrokenSink(RuntimeException why) implements Sink {
    @Override
    public int maxInFlight() {
      return 0;
    }

    @Override
    public Session open(Tenure tenure) {
      throw why;
    }

    @Override
    public void close() {}
  }

  int maxInFlight() {
    return sink.maxInFlight();
  }

  CompletableFuture<Session> open(int partition, long epoch) {
    Tenure tenure = new Tenure(row.stream(), row.spec().name(), partition, epoch);
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return sink.open(tenure);
          } catch (RuntimeException e) {
            throw e;
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        },
        executor);
  }

  /** A result for each event, however the sink fails. */
  CompletableFuture<List<SinkResult>> deliver(Session session, Send send) {
    List<Event> events = send.events();
    return CompletableFuture.supplyAsync(() -> session.deliver(events), executor)
        .thenCompose((CompletionStage<List<SinkResult>> stage) -> stage)
        .orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
        .handle(
            (results, failure) -> {
              if (failure != null) {
                return allDown(events, failure.toString());
              }
              return results.size() == events.size()
                  ? results
                  : allDown(
                      events,
                      "It answered %d of %d events".formatted(results.size(), events.size()));
            });
  }

  private static List<SinkResult> allDown(List<Event> events, String reason) {
    return events.stream().<SinkResult>map(event -> new SinkResult.Down(reason)).toList();
  }

  CompletableFuture<?> closeSession(Session session) {
    closing.removeIf(CompletableFuture::isDone);
    CompletableFuture<?> closed = inBackground(session::close);
    closing.add(closed);
    return closed;
  }

  /** When its sessions are closed. */
  CompletableFuture<?> close() {
    return CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new))
        .thenCompose(nothing -> inBackground(sink::close));
  }

  private CompletableFuture<?> inBackground(Runnable close) {
    return CompletableFuture.runAsync(close, executor)
        .exceptionally(
            e -> {
              log.warn("Closing {} of {} failed", row.spec().name(), row.stream(), e);
              return null;
            });
  }
}
