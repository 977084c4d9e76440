package dev.lockstep.outbox;

import dev.lockstep.outbox.DeliveryCursor.Dispatch;
import dev.lockstep.outbox.OwnedSink.OpenSession;
import dev.lockstep.outbox.Streams.SinkRow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one definition of a sink on this node. Every call ends, whatever the sink does: if it
 * throws, returns null, gives a malformed answer or never returns, it is down.
 */
final class SinkRunner {
  private static final Logger log = LoggerFactory.getLogger(SinkRunner.class);

  final SinkRow row;
  final Breaker breaker;
  private final SinkCalls calls;
  private final OwnedSink owned;
  private final Duration timeout;
  private volatile @Nullable CreatedSink made;
  private volatile boolean overdue;

  /**
   * Starts creating the sink. Until it exists it receives no events, and no other sink waits for
   * it.
   *
   * @param whenMade called on another thread when it is made, or cannot be
   */
  SinkRunner(SinkRow row, SinkTypes types, RelayConfig config, SinkCalls calls, Runnable whenMade) {
    this.row = row;
    this.calls = calls;
    this.owned = new OwnedSink(row, calls);
    this.timeout = config.deliverTimeout();
    this.breaker = new Breaker(config.firstPause(), config.maxPause());
    CompletableFuture<CreatedSink> making =
        calls
            .beginWhenFree(
                () -> new CreatedSink(Math.max(0, owned.make(types).maxInFlight()), null))
            .exceptionally(this::broken);
    // The call counts as hung already.
    var unused =
        calls
            .inTime(making.copy(), CompletableFuture.completedFuture(null))
            .whenComplete((sink, failure) -> late(failure));
    var unusedToo =
        making.thenAccept(
            sink -> {
              made = sink;
              owned.made();
              whenMade.run();
            });
  }

  private CreatedSink broken(Throwable why) {
    if (!owned.isRetired()) {
      log.error(
          "Sink {} of stream {} cannot be created; fix its definition",
          row.spec().name(),
          row.stream(),
          why);
    }
    return new CreatedSink(0, why);
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

  /**
   * The sink as it was made.
   *
   * @param maxInFlight asked once
   * @param broken why it cannot be used: it is down until its definition changes
   */
  private record CreatedSink(int maxInFlight, @Nullable Throwable broken) {}

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
   * Opens a session. One that opens after the timeout is closed.
   *
   * @param check validates an open session; if it throws, the session is closed
   */
  CompletableFuture<OpenSession> open(int partition, long epoch, Runnable check) {
    SessionLease lease = new SessionLease(row.stream(), row.spec().name(), partition, epoch);
    CompletableFuture<OpenSession> answer = new CompletableFuture<>();
    CompletableFuture<Boolean> call = calls.begin(() -> open(lease, check, answer));
    var unused = call.whenComplete((done, failure) -> fail(answer, failure));
    return calls.inTime(answer, call);
  }

  private boolean open(SessionLease lease, Runnable check, CompletableFuture<OpenSession> answer)
      throws Exception {
    Throwable broken = Objects.requireNonNull(made).broken();
    if (broken != null) {
      throw new IllegalStateException(
          "The sink cannot be created: " + FailureText.of(broken), broken);
    }
    OpenSession open = owned.open(lease);
    boolean taken = false;
    try {
      check.run();
      taken = answer.complete(open);
    } finally {
      if (!taken) {
        var unused = open.close();
      }
    }
    return taken;
  }

  private static void fail(CompletableFuture<?> answer, @Nullable Throwable failure) {
    if (failure != null) {
      answer.completeExceptionally(failure);
    }
  }

  /**
   * Delivers; gives one result per event, however the sink fails. Never completes exceptionally.
   */
  CompletableFuture<List<SinkResult>> deliver(OpenSession open, Dispatch send) {
    List<Event> events = send.events();
    CompletableFuture<List<SinkResult>> answer = new CompletableFuture<>();
    CompletableFuture<Boolean> call =
        calls.begin(
            () -> {
              // Does not pass on the sink's own stage: its methods are the sink's code.
              var unused =
                  open.session()
                      .deliver(events)
                      .whenComplete((results, failure) -> take(answer, events, results, failure));
              return true;
            });
    var unused = call.whenComplete((done, failure) -> fail(answer, failure));
    return calls
        .inTime(answer, call)
        .exceptionally(failure -> allDown(events.size(), FailureText.of(failure)));
  }

  private static void take(
      CompletableFuture<List<SinkResult>> answer,
      List<Event> events,
      List<@Nullable SinkResult> results,
      @Nullable Throwable failure) {
    try {
      answer.complete(
          failure == null
              ? checked(results, events.size())
              : allDown(events.size(), FailureText.of(failure)));
    } catch (Throwable e) {
      answer.completeExceptionally(new SinkCalls.SinkFailed(e));
    }
  }

  /**
   * An answer of the wrong length is worthless as a whole; a null result concerns its own event
   * only.
   */
  private static List<SinkResult> checked(List<@Nullable SinkResult> answer, int events) {
    List<SinkResult> results = new ArrayList<>();
    for (SinkResult one : answer) {
      results.add(
          one == null
              ? new SinkResult.RetryLater("The sink returned no result for this event")
              : one);
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

  /** Closes the sink after its sessions; see {@link OwnedSink#retire}. */
  CompletableFuture<?> close() {
    return owned.retire();
  }
}
