package dev.lockstep.outbox;

import dev.lockstep.outbox.DeliveryCursor.Dispatch;
import dev.lockstep.outbox.OwnedSink.OpenSession;
import dev.lockstep.outbox.Streams.SinkRow;
import dev.lockstep.sql.Listening;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends events to sinks and handles the results. Never waits for a sink; a failing sink affects no
 * other. Used by the relay's thread; results reach it as messages.
 */
final class RelaySender {
  private static final Logger log = LoggerFactory.getLogger(RelaySender.class);

  private final CursorTable cursors;
  private final OwnedPartitions owned;
  private final RelayListener listener;
  private final Consumer<Runnable> messages;

  RelaySender(
      CursorTable cursors,
      OwnedPartitions owned,
      RelayListener listener,
      Consumer<Runnable> messages) {
    this.cursors = cursors;
    this.owned = owned;
    this.listener = listener;
    this.messages = messages;
  }

  void send() {
    long now = System.nanoTime();
    for (SinkPartition sink : owned.all()) {
      if (!sink.mayBegin(now)) {
        continue;
      }
      OpenSession session = sink.session();
      if (session == null) {
        if (sink.cursor.hasEvents() && sink.life.beginOpening()) {
          open(sink);
        }
        continue;
      }
      for (Dispatch dispatch : sink.cursor.next()) {
        var unused =
            sink.runner
                .deliver(session, dispatch)
                .thenAccept(results -> messages.accept(() -> apply(sink, dispatch, results)));
      }
    }
  }

  /** Opens the sink first, which may fence a former owner; then checks the lease again. */
  private void open(SinkPartition sink) {
    var unused =
        sink.runner
            .open(sink.lease.shard(), sink.lease.epoch(), () -> requireLease(sink))
            .whenComplete(
                (session, failure) -> messages.accept(() -> opened(sink, session, failure)));
  }

  /** A session that was opened under a lease that is over must not deliver. */
  private void requireLease(SinkPartition sink) {
    if (!cursors.holds(sink.lease)) {
      throw new IllegalStateException(
          "Lease %s is over; its partition has another owner".formatted(sink.lease));
    }
  }

  private void opened(
      SinkPartition sink, @Nullable OpenSession session, @Nullable Throwable failure) {
    sink.opened(session);
    if (failure != null) {
      trip(sink, FailureText.of(failure));
    }
  }

  private void apply(SinkPartition sink, Dispatch dispatch, List<SinkResult> results) {
    tell(sink.runner.row, results);
    Optional<String> down;
    try {
      down = sink.cursor.apply(dispatch, results, System.nanoTime());
    } catch (Throwable e) {
      // A bug of ours. Without this the cursor would wait for the answer for ever.
      log.error("Handling a delivery's results failed; the events are sent again", e);
      sink.cursor.resend(dispatch);
      sink.life.reload();
      down = Optional.of(FailureText.of(e));
    }
    if (down.isPresent()) {
      sink.closeSession();
      trip(sink, down.get());
    } else {
      sink.runner.breaker.reset();
    }
  }

  private void tell(SinkRow row, List<SinkResult> results) {
    int delivered = count(results, SinkResult.Delivered.class);
    int failed = results.size() - delivered - count(results, SinkResult.Unsent.class);
    Listening.tell(() -> listener.onDelivery(row.stream(), row.spec().name(), delivered, failed));
  }

  private static int count(List<SinkResult> results, Class<? extends SinkResult> kind) {
    return (int) results.stream().filter(kind::isInstance).count();
  }

  private static void trip(SinkPartition sink, String reason) {
    if (sink.runner.breaker.trip(System.nanoTime(), reason)) {
      SinkRow row = sink.runner.row;
      log.warn("Sink {} of stream {} is down: {}", row.spec().name(), row.stream(), reason);
    }
  }
}
