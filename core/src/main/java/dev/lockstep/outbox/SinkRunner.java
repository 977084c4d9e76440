package dev.lockstep.outbox;

import dev.lockstep.outbox.Lane.Send;
import dev.lockstep.outbox.Streams.SinkRow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
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
  private volatile @Nullable Made made;
  private volatile boolean overdue;
  private final CompletableFuture<Made> making;
  private final Executor executor;
  private final Duration timeout;
  private final AtomicInteger hung = new AtomicInteger();
  private final List<CompletableFuture<?>> closing = new ArrayList<>();

  /**
   * Begins to make the sink. Until it is made it is open for nobody, and no other waits for it.
   *
   * @param whenMade told on another thread when it is made, or cannot be
   */
  SinkRunner(
      SinkRow row, SinkTypes types, RelayConfig config, Executor executor, Runnable whenMade) {
    this.row = row;
    this.executor = executor;
    this.timeout = config.deliverTimeout();
    this.breaker = new Breaker(config.firstPause(), config.maxPause());
    this.making =
        inBackground(() -> Made.of(types.create(row.stream(), row.spec())))
            .exceptionally(this::broken);
    var unused = withTimeout(making).whenComplete((sink, failure) -> late(failure));
    var unusedToo =
        making.thenAccept(
            sink -> {
              made = sink;
              whenMade.run();
            });
  }

  private Made broken(Throwable why) {
    log.error("The sink {} of {} cannot be made", row.spec().name(), row.stream(), why);
    return new Made(new BrokenSink(why), 0);
  }

  private void late(@Nullable Throwable failure) {
    if (failure != null) {
      overdue = true;
      log.warn("The sink {} of {} is not made within {}", row.spec().name(), row.stream(), timeout);
    }
  }

  /** A sink, and what it said once and for all. */
  private record Made(Sink sink, int maxInFlight) {
    // The types are others', and may give null whatever they declare.
    static Made of(@Nullable Sink sink) {
      if (sink == null) {
        throw new IllegalStateException("Its type made no sink");
      }
      return new Made(sink, Math.max(0, sink.maxInFlight()));
    }
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

  boolean isMade() {
    return made != null;
  }

  /** Of one that is made. */
  int maxInFlight() {
    return Objects.requireNonNull(made).maxInFlight();
  }

  /** Why nothing is delivered to it now; empty: it is not down. */
  Optional<String> down() {
    if (!isMade()) {
      return overdue ? Optional.of("It was not made within " + timeout) : Optional.empty();
    }
    return breaker.isDown() ? Optional.of(breaker.reason()) : Optional.empty();
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
              @Nullable Session session = Objects.requireNonNull(made).sink().open(tenure);
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
    // One that is still being made is closed when it is.
    CompletableFuture<Boolean> closed =
        CompletableFuture.allOf(sessions)
            .thenCombine(making, (nothing, one) -> one)
            .thenCompose(one -> closed(one.sink()::close));
    return isMade() ? closed : CompletableFuture.completedFuture(true);
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
    } catch (Throwable e) {
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
