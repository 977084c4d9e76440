package dev.lockstep.outbox;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs one line per event. Leaves the content out, which may be confidential. */
final class LogSink implements Sink, Session {
  private static final Logger log = LoggerFactory.getLogger("dev.lockstep.outbox.events");

  @Override
  public int maxInFlight() {
    return 0;
  }

  @Override
  public Session open(SessionLease lease) {
    return this;
  }

  @Override
  public CompletionStage<List<SinkResult>> deliver(List<Event> events) {
    for (Event event : events) {
      log.info(
          "{} {} {} {} ({})",
          event.stream(),
          event.key(),
          event.seq(),
          event.type(),
          event.content());
    }
    return CompletableFuture.completedStage(
        Collections.nCopies(events.size(), SinkResult.DELIVERED));
  }

  @Override
  public void close() {}
}
