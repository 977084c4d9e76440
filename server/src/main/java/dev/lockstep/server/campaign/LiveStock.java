package dev.lockstep.server.campaign;

import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.InFlight;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.campaign.CampaignStore.Stocked;
import dev.lockstep.server.campaign.Watchers.Slot;
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
 * Streams a campaign's counts as server-sent events, at most ten per second.
 *
 * <p>Each watched campaign is read once per interval, however many watch it, and sent if it has
 * changed. If many campaigns are watched, each is read less often, so that watchers, who need no
 * key, do not slow down buyers. Every event holds all counts, so a slow client that misses one
 * catches up with the next. The event's id is derived from its content: a client that reconnects
 * with the current id gets nothing until something changes.
 *
 * <p>Thread-safe: watchers come from any event loop, and each is written to on its own loop.
 */
final class LiveStock {
  private static final Logger log = LoggerFactory.getLogger(LiveStock.class);

  private static final long INTERVAL_MS = 100;

  /** The reads of all campaigns together are at least this far apart. */
  private static final long BETWEEN_READS_MS = 5;

  private static final long KEEP_ALIVE_NANOS = 15_000_000_000L;

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

  /** An event and its id. */
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
    Slot slot = watchers.take(request.from().network());
    return workers
        .run(() -> store.stocked(id))
        .map(
            stocked -> {
              begin(request, id, Event.of(stocked), slot);
              return Answer.STREAMING;
            })
        .onFailure(thrown -> slot.leave());
  }

  private void begin(Request request, long id, Event first, Slot slot) {
    HttpServerResponse response = request.raw().response();
    if (response.closed() || response.ended()) {
      slot.leave();
      return;
    }
    response
        .setChunked(true)
        .putHeader("Content-Type", "text/event-stream")
        .putHeader("X-Accel-Buffering", "no");
    if (request.raw().method().equals(HttpMethod.HEAD)) {
      // HEAD gets only the head: a stream would block the connection silently.
      slot.leave();
      var unused = response.end();
      return;
    }
    Stream stream = new Stream(vertx.getOrCreateContext(), response, slot);
    boolean known = request.header("Last-Event-ID").equals(Optional.of(first.id()));
    // Send something at once, so that the client knows that the stream is open.
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
      // The client left while its campaign was read; no close handler will fire.
      end(campaign, stream);
      return;
    }
    if (!campaign.last.id().equals(first.id())) {
      // The others were sent a newer event between our read and our registration.
      send(response, campaign.last.text());
    }
  }

  private void end(Watched campaign, Stream stream) {
    campaign.streams.remove(stream);
    stream.slot().leave();
    inFlight.streamEnded(stream.response());
  }

  /** A watcher and its event loop. */
  private record Stream(Context context, HttpServerResponse response, Slot slot) {
    void send(String text) {
      context.runOnContext(now -> LiveStock.send(response, text));
    }
  }

  private static void send(HttpServerResponse response, String text) {
    // A slow client skips events until it has room for one.
    if (!response.ended() && !response.closed() && !response.writeQueueFull()) {
      var unused = response.write(text);
    }
  }

  /** A campaign that is watched, or was a moment ago. */
  private final class Watched {
    final long id;
    final Set<Stream> streams = ConcurrentHashMap.newKeySet();
    volatile Event last;
    private long sentNanos = System.nanoTime();

    Watched(long id, Event first) {
      this.id = id;
      this.last = first;
      readLater();
    }

    private void readLater() {
      vertx.setTimer(Math.max(INTERVAL_MS, BETWEEN_READS_MS * watched.size()), timer -> read());
    }

    /** One read at a time: each schedules the next when it ends. */
    private void read() {
      watched.computeIfPresent(id, (key, now) -> now == this && streams.isEmpty() ? null : now);
      // On close, the watchers leave and the workers stop.
      if (watched.get(id) != this || inFlight.draining()) {
        return;
      }
      workers
          .run(() -> Event.of(store.stocked(id)))
          .onSuccess(this::publish)
          .onFailure(this::unread)
          .onComplete(ended -> readLater());
    }

    /** Silent while the server stops. */
    private void unread(Throwable e) {
      if (!inFlight.draining()) {
        log.warn("Campaign {} could not be read for its watchers: {}", id, e.toString());
      }
    }

    private void publish(Event event) {
      boolean news = !event.id().equals(last.id());
      long now = System.nanoTime();
      if (!news && now - sentNanos < KEEP_ALIVE_NANOS) {
        return;
      }
      last = event;
      sentNanos = now;
      String text = news ? event.text() : ": still here\n\n";
      streams.forEach(stream -> stream.send(text));
    }
  }
}
