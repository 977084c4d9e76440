package dev.lockstep.outbox;

import dev.lockstep.outbox.Lane.Send;
import dev.lockstep.outbox.Streams.SinkRow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A sink on this node: opens sessions, delivers, and closes, on threads that may block. Whatever
 * the sink does, every call of it has an end here: it throws anything, returns null, answers
 * nonsense or never returns, and is down.
 */
final class SinkRunner {
  private static final Logger log = LoggerFactory.getLogger(SinkRunner.class);

  /** Calls that never returned, each with a thread of its own: then no more are begun. */
  static final int MAX_HUNG = 16;

  final SinkRow row;
  final Breaker breaker;
  private final Sink sink;
  private final int maxInFlight;
  private final Executor executor;
  private final Duration timeout;
  private final AtomicInteger hung = new AtomicInteger();
  private final List<CompletableFuture<?>> closing = new ArrayList<>();

  SinkRunner(SinkRow row, SinkTypes types, RelayConfig config, Executor executor) {
    this.row = row;
    this.executor = executor;
    this.timeout = config.deliverTimeout();
    this.breaker = new Breaker(config.firstPause(), config.maxPause());
    Sink made;
    int most;
    try {
      made = made(types.create(row.stream(), row.spec()));
      most = made.maxInFlight();
    } catch (RuntimeException | Error e) {
      log.error("The sink {} of {} cannot be made", row.spec().name(), row.stream(), e);
      made = new BrokenSink(e);
      most = 0;
    }
    this.sink = made;
    this.maxInFlight = Math.max(0, most);
  }

  // The types are others', and may give null whatever they declare.
  private static Sink made(@Nullable Sink sink) {
    if (sink == null) {
      throw new IllegalStateException("Its type made no sink");
    }
    return sink;
  }

  /** One that cannot be made is down, and says why; its definition has to change. */
  private record BrokenSink(Throwable why) implements Sink {
    @Override
    public int maxInFlight() {
      return 0;
    }

    @Override
    public Session open(Tenure tenure) {
      throw new IllegalStateException("It cannot be made: " + Texts.reason(why), why);
    }

    @Override
    public void close() {}
  }

  int maxInFlight() {
    return maxInFlight;
  }

  /**
   * Opens a session.
   *
   * @param check what must hold of a session that is open; one of which it does not is closed
   */
  CompletableFuture<Session> open(int partition, long epoch, Function<Session, Session> check) {
    Tenure tenure = new Tenure(row.stream(), row.spec().name(), partition, epoch);
    CompletableFuture<Session> opening =
        inBackground(
            () -> {
              @Nullable Session session = sink.open(tenure);
              if (session == null) {
                throw new IllegalStateException("It opened no session");
              }
              return check.apply(session);
            });
    CompletableFuture<Session> inTime = withTimeout(opening);
    // One that opens when nobody waits for it any more is of no use.
    var unused =
        opening.thenAccept(
            session -> {
              if (inTime.isCompletedExceptionally()) {
                var unusedToo = closeSession(session);
              }
            });
    return inTime;
  }

  /** A result for each event, however the sink fails. Never completes exceptionally. */
  CompletableFuture<List<SinkResult>> deliver(Session session, Send send) {
    List<Event> events = send.events();
    CompletableFuture<CompletionStage<List<SinkResult>>> call =
        inBackground(
            () ->
                session
                    .deliver(events)
                    .handle(
                        (results, failure) ->
                            failure == null
                                ? checked(results, events.size())
                                : allDown(events.size(), Texts.reason(failure))));
    return withTimeout(call.thenCompose(stage -> stage), call)
        .exceptionally(failure -> allDown(events.size(), Texts.reason(failure)));
  }

  /** An answer of the wrong length says nothing of any event; one that is missing, of its own. */
  private static List<SinkResult> checked(List<@Nullable SinkResult> answer, int events) {
    List<SinkResult> results = new ArrayList<>();
    for (SinkResult one : answer) {
      results.add(one == null ? new SinkResult.Retry("The sink gave no result") : one);
    }
    return results.size() == events
        ? results
        : allDown(events, "It answered %d of %d events".formatted(results.size(), events));
  }

  private static List<SinkResult> allDown(int events, String reason) {
    List<SinkResult> results = new ArrayList<>();
    for (int i = 0; i < events; i++) {
      results.add(new SinkResult.Down(reason));
    }
    return results;
  }

  CompletableFuture<?> closeSession(Session session) {
    CompletableFuture<?> closed = closed(session::close);
    synchronized (closing) {
      closing.removeIf(CompletableFuture::isDone);
      closing.add(closed);
    }
    return closed;
  }

  /** When its sessions are closed. */
  CompletableFuture<?> close() {
    CompletableFuture<?>[] sessions;
    synchronized (closing) {
      sessions = closing.toArray(CompletableFuture[]::new);
    }
    return CompletableFuture.allOf(sessions).thenCompose(nothing -> closed(sink::close));
  }

  /** Ends in time, whatever the sink does. */
  private CompletableFuture<Boolean> closed(Runnable close) {
    return withTimeout(
            inBackground(
                () -> {
                  close.run();
                  return true;
                }))
        .exceptionally(
            e -> {
              log.warn("Closing {} of {} failed", row.spec().name(), row.stream(), e);
              return false;
            });
  }

  private <T> CompletableFuture<T> withTimeout(CompletableFuture<T> call) {
    return withTimeout(call, call);
  }

  /**
   * @param call that has a thread; should it not have returned by then, it counts as hung until it
   *     does
   */
  private <T> CompletableFuture<T> withTimeout(
      CompletableFuture<T> answer, CompletableFuture<?> call) {
    return answer
        .copy()
        .orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
        .whenComplete(
            (result, failure) -> {
              if (failure instanceof TimeoutException && !call.isDone()) {
                hung.incrementAndGet();
                var unused = call.whenComplete((done, e) -> hung.decrementAndGet());
              }
            });
  }

  private <T> CompletableFuture<T> inBackground(Callable<T> call) {
    if (hung.get() >= MAX_HUNG) {
      return CompletableFuture.failedFuture(
          new IllegalStateException(
              "%d calls of it have not returned; none is begun".formatted(MAX_HUNG)));
    }
    CompletableFuture<T> result = new CompletableFuture<>();
    try {
      executor.execute(
          () -> {
            try {
              result.complete(call.call());
            } catch (Throwable e) {
              result.completeExceptionally(new SinkFailed(e));
            }
          });
    } catch (RuntimeException | Error e) {
      // No thread for it.
      result.completeExceptionally(new SinkFailed(e));
    }
    return result;
  }

  /** Futures ask an exception what it is, and are stuck if that fails. This one can be asked. */
  private static final class SinkFailed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    SinkFailed(Throwable thrown) {
      super(Texts.reason(thrown), thrown);
    }

    @Override
    @SuppressWarnings("OverrideThrowableToString") // The reason alone is what is kept.
    public String toString() {
      return String.valueOf(getMessage());
    }
  }
}
