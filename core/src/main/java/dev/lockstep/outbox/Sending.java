package dev.lockstep.outbox;

import dev.lockstep.outbox.Lane.Send;
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
final class Sending {
  private static final Logger log = LoggerFactory.getLogger(Sending.class);

  private final CursorTable cursors;
  private final Territory territory;
  private final RelayListener listener;
  private final Consumer<Runnable> messages;

  Sending(
      CursorTable cursors,
      Territory territory,
      RelayListener listener,
      Consumer<Runnable> messages) {
    this.cursors = cursors;
    this.territory = territory;
    this.listener = listener;
    this.messages = messages;
  }

  void send() {
    long now = System.nanoTime();
    for (Place place : territory.places()) {
      if (!place.mayBegin(now)) {
        continue;
      }
      OpenSession session = place.session();
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
                .thenAccept(results -> messages.accept(() -> settle(place, send, results)));
      }
    }
  }

  /** Opens the sink first, which may fence a former owner; then checks the lease again. */
  private void open(Place place) {
    var unused =
        place
            .runner
            .open(place.lease.shard(), place.lease.epoch(), () -> requireLease(place))
            .whenComplete(
                (session, failure) -> messages.accept(() -> opened(place, session, failure)));
  }

  /** A session that was opened under a lease that is over must not deliver. */
  private void requireLease(Place place) {
    if (!cursors.holds(place.lease)) {
      throw new IllegalStateException(
          "Lease %s is over; its partition has another owner".formatted(place.lease));
    }
  }

  private void opened(Place place, @Nullable OpenSession session, @Nullable Throwable failure) {
    place.opened(session);
    if (failure != null) {
      trip(place, Texts.reason(failure));
    }
  }

  private void settle(Place place, Send send, List<SinkResult> results) {
    tell(place.runner.row, results);
    Optional<String> down;
    try {
      down = place.lane.settle(send, results, System.nanoTime());
    } catch (Throwable e) {
      // A bug of ours. Without this the place would wait for the answer for ever.
      log.error("Handling a delivery's results failed; the events are sent again", e);
      place.lane.putBack(send);
      place.again = true;
      down = Optional.of(Texts.reason(e));
    }
    if (down.isPresent()) {
      place.closeSession();
      trip(place, down.get());
    } else {
      place.runner.breaker.reset();
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

  private static void trip(Place place, String reason) {
    if (place.runner.breaker.trip(System.nanoTime(), reason)) {
      SinkRow row = place.runner.row;
      log.warn("Sink {} of stream {} is down: {}", row.spec().name(), row.stream(), reason);
    }
  }
}
