package dev.lockstep.server.campaign;

import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.InFlight;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.campaign.CampaignStore.Stocked;
import dev.lockstep.server.campaign.Watchers.Place;
import dev.lockstep.server.edge.HttpLimits;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerResponse;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Streams of a campaign's counts (server-sent events), at most ten a second.
 *
 * <p>Each campaign that somebody watches is read once an interval, however many watch, and sent
 * when it has changed. An event holds all counts, so one that a slow client misses is made good by
 * the next; its id says what it holds, so a client that comes back with the id of what is still
 * true is sent nothing until something changes.
 *
 * <p>Thread-safe: watchers come on any event loop, and each is written to on its own.
 */
final class LiveStock {
  private static final Logger log = LoggerFactory.getLogger(LiveStock.class);

  private static final long INTERVAL_MS = 100;
  private static final int KEEP_ALIVE_EVERY = 150;

  private final Vertx vertx;
  private final Workers workers;
  private final CampaignStore store;
  private final InFlight inFlight;
  private final Map<Long, Watched> watched = new ConcurrentHashMap<>();
  private final Watchers watchers;

  LiveStock(
      Vertx vertx, Workers workers, CampaignStore store, InFlight inFlight, HttpLimits limits) {
    this.watchers = new Watchers(limits.watchers(), limits.watchersPerAddress());
    this.vertx = vertx;
    this.workers = workers;
    this.store = store;
    this.inFlight = inFlight;
  }

  /** What was sent, and its name. */
  private record Event(String id, String text) {
    static Event of(Stocked stocked) {
      String data = CampaignView.stock(stocked.campaign(), stocked.pools()).encode();
      String id = Integer.toHexString(data.hashCode()) + "-" + data.length();
      return new Event(id, "event: stock\nid: " + id + "\ndata: " + data + "\n\n");
    }
  }

  int watchers() {
    return watchers.taken();
  }

  Future<Answer> watch(Request request, long id) {
    Place place = watchers.take(request.from().network());
    return workers
        .run(() -> store.stocked(id))
        .map(
            stocked -> {
              begin(request, id, Event.of(stocked), place);
              return Answer.STREAMING;
            })
        .onFailure(thrown -> place.leave());
  }

  private void begin(Request request, long id, Event first, Place place) {
    HttpServerResponse response = request.raw().response();
    if (response.closed() || response.ended()) {
      place.leave();
      return;
    }
    response
        .setChunked(true)
        .putHeader("Content-Type", "text/event-stream")
        .putHeader("X-Accel-Buffering", "no");
    if (request.raw().method().equals(HttpMethod.HEAD)) {
      // Its answer is the head alone: a stream would block the connection without a word.
      place.leave();
      var unused = response.end();
      return;
    }
    Stream stream = new Stream(vertx.getOrCreateContext(), response, place);
    boolean known = request.header("Last-Event-ID").equals(Optional.of(first.id()));
    // A comment at once: the client then knows that the stream is open.
    send(response, known ? ": nothing new\n\n" : first.text());
    Watched campaign =
        watched.compute(
            id,
            (key, before) -> {
              Watched kept = before == null ? new Watched(key, first) : before;
              kept.streams.add(stream);
              return kept;
            });
    response.closeHandler(closed -> end(campaign, stream));
    inFlight.stream(response);
    if (response.closed()) {
      // Gone while its campaign was read: nobody will tell us again.
      end(campaign, stream);
      return;
    }
    if (!campaign.last.id().equals(first.id())) {
      // Between our read and our joining in, the others were sent something newer.
      send(response, campaign.last.text());
    }
  }

  private void end(Watched campaign, Stream stream) {
    campaign.streams.remove(stream);
    stream.place().leave();
    inFlight.streamEnded(stream.response());
  }

  /** Somebody who watches, with the event loop that serves him. */
  private record Stream(Context context, HttpServerResponse response, Place place) {
    void send(String text) {
      context.runOnContext(now -> LiveStock.send(response, text));
    }
  }

  private static void send(HttpServerResponse response, String text) {
    // A client that does not keep up is sent the next event that it has room for.
    if (!response.ended() && !response.closed() && !response.writeQueueFull()) {
      var unused = response.write(text);
    }
  }

  /** A campaign that somebody watches, or watched a moment ago. */
  private final class Watched {
    final long id;
    final Set<Stream> streams = ConcurrentHashMap.newKeySet();
    volatile Event last;
    private int quietTurns;

    Watched(long id, Event first) {
      this.id = id;
      this.last = first;
      readLater();
    }

    private void readLater() {
      vertx.setTimer(INTERVAL_MS, timer -> read());
    }

    /** One read at a time: the next is planned when this one has ended. */
    private void read() {
      watched.computeIfPresent(id, (key, now) -> now == this && streams.isEmpty() ? null : now);
      // Whoever watches is sent away then, and the workers go.
      if (watched.get(id) != this || inFlight.draining()) {
        return;
      }
      workers
          .run(() -> Event.of(store.stocked(id)))
          .onSuccess(this::publish)
          .onFailure(this::unread)
          .onComplete(ended -> readLater());
    }

    /** While the server stops, a read that comes too late is nothing to tell. */
    private void unread(Throwable e) {
      if (!inFlight.draining()) {
        log.warn("Campaign {} could not be read for its watchers: {}", id, e.toString());
      }
    }

    private void publish(Event event) {
      if (!event.id().equals(last.id())) {
        last = event;
        quietTurns = 0;
        streams.forEach(stream -> stream.send(event.text()));
      } else if (++quietTurns % KEEP_ALIVE_EVERY == 0) {
        streams.forEach(stream -> stream.send(": still here\n\n"));
      }
    }
  }
}
