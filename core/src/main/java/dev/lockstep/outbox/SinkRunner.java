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
 * Calls a sink on this node, on threads that may block. Every call ends, whatever the sink does: if
 * it throws, returns null, gives a malformed answer or never returns, it is down.
 */
final class SinkRunner {
  private static final Logger log = LoggerFactory.getLogger(SinkRunner.class);

  /** Hung calls, each holding a thread, before no more are begun. */
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
   * Starts creating the sink. Until it exists it receives no events, and no other sink waits for
   * it.
   *
   * @param whenMade called on another thread when it is made, or cannot be
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
    log.error(
        "Sink {} of stream {} cannot be created; fix its definition",
        row.spec().name(),
        row.stream(),
        why);
    return new Made(new BrokenSink(why), 0);
  }

  private void late(@Nullable Throwable failure) {
    if (failure != null) {
      overdue = true;
      log.warn(
          "Sink {} of stream {} was not created within {}",
          row.spec().name(),
          row.stream(),
          timeout);
    }
  }

  /** A sink, and its maxInFlight, asked once. */
  private record Made(Sink sink, int maxInFlight) {
    // The factory is foreign code and may return null.
    static Made of(@Nullable Sink sink) {
      if (sink == null) {
        throw new IllegalStateException("The sink's type returned no sink");
      }
      return new Made(sink, Math.max(0, sink.maxInFlight()));
    }
  }

  /**
   * Stands for a sink that cannot be created: down, with the reason, until its definition changes.
   */
  private record BrokenSink(Throwable why) implements Sink {
    @Override
    public int maxInFlight() {
      return 0;
    }

    @Override
    public Session open(Tenure tenure) {
      throw new IllegalStateException("The sink cannot be created: " + Texts.reason(why), why);
    }

    @Override
    public void close() {}
  }

  boolean isMade() {
    return made != null;
  }

  /** Only for a sink that is made. */
  int maxInFlight() {
    return Objects.requireNonNull(made).maxInFlight();
  }

  /** Why the sink is down; empty: it is not. */
  Optional<String> down() {
    if (!isMade()) {
      return overdue ? Optional.of("The sink was not made within " + timeout) : Optional.empty();
    }
    return breaker.isDown() ? Optional.of(breaker.reason()) : Optional.empty();
  }

  /**
   * Opens a session.
   *
   * @param check validates an open session; if it throws, it has closed the session
   */
  CompletableFuture<Session> open(int partition, long epoch, Function<Session, Session> check) {
    Tenure tenure = new Tenure(row.stream(), row.spec().name(), partition, epoch);
    CompletableFuture<Session> opening =
        inBackground(
            () -> {
              @Nullable Session session = Objects.requireNonNull(made).sink().open(tenure);
              if (session == null) {
                throw new IllegalStateException("The sink opened no session");
              }
              return check.apply(session);
            });
    CompletableFuture<Session> inTime = withTimeout(opening);
    // Close a session that opens after the timeout.
    var unused =
        opening.thenAccept(
            session -> {
              if (inTime.isCompletedExceptionally()) {
                var unusedToo = closeSession(session);
              }
            });
    return inTime;
  }

  /**
   * Delivers; gives one result per event, however the sink fails. Never completes exceptionally.
   */
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

  /**
   * An answer of the wrong length is worthless as a whole; a null result concerns its own event
   * only.
   */
  private static List<SinkResult> checked(List<@Nullable SinkResult> answer, int events) {
    List<SinkResult> results = new ArrayList<>();
    for (SinkResult one : answer) {
      results.add(
          one == null ? new SinkResult.Retry("The sink returned no result for this event") : one);
    }
    return results.size() == events
        ? results
        : allDown(events, "The sink answered %d of %d events".formatted(results.size(), events));
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

  /** Closes the sink after its sessions. */
  CompletableFuture<?> close() {
    CompletableFuture<?>[] sessions;
    synchronized (closing) {
      sessions = closing.toArray(CompletableFuture[]::new);
    }
    // If it is still being made, it is closed afterwards.
    CompletableFuture<Boolean> closed =
        CompletableFuture.allOf(sessions)
            .thenCombine(making, (nothing, one) -> one)
            .thenCompose(one -> closed(one.sink()::close));
    return isMade() ? closed : CompletableFuture.completedFuture(true);
  }

  /** Ends in bounded time, whatever the sink does. */
  private CompletableFuture<Boolean> closed(Runnable close) {
    return withTimeout(
            inBackground(
                () -> {
                  close.run();
                  return true;
                }))
        .exceptionally(
            e -> {
              log.warn("Closing sink {} of stream {} failed", row.spec().name(), row.stream(), e);
              return false;
            });
  }

  private <T> CompletableFuture<T> withTimeout(CompletableFuture<T> call) {
    return withTimeout(call, call);
  }

  /**
   * @param call the call that occupies a thread; if it has not returned by the timeout, it counts
   *     as hung until it does
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
              "%d calls of the sink have not returned; no more are begun".formatted(MAX_HUNG)));
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
      // No thread available.
      result.completeExceptionally(new SinkFailed(e));
    }
    return result;
  }

  /**
   * CompletableFuture calls toString() on an exception and hangs if that throws. This wrapper is
   * safe.
   */
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
