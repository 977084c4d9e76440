package dev.lockstep.gateway;

import dev.lockstep.gateway.WebhookTable.Return;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers events, at least once.
 *
 * <p>The writer of an event passes it on in memory, so most events cost only an insert and a
 * delete. Events that failed, are delayed or were left by a killed process come from the table when
 * they are due. All state belongs to one event loop; the table is queried on a worker.
 */
final class WebhookDelivery implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(WebhookDelivery.class);

  private static final int MAX_IN_FLIGHT = 64;

  /** Events beyond this are not lost: the table has them. */
  private static final int MAX_QUEUED = 20_000;

  private static final int CLAIM_BATCH = 500;
  private static final long SETTLE_AFTER_MS = 20;
  private static final long HELD_BACK_MS = 5_000;
  private static final double JITTER = 0.2;
  private static final long CLOSE_TIMEOUT_SECONDS = 5;

  private final Vertx vertx;
  private final Context loop;
  private final WorkerExecutor worker;
  private final WebhookTarget target;
  private final WebhookTable table;
  private final WebhookSender sender;
  private final Supplier<GatewayFaults> faults;
  private final long pollTimer;

  /** Completes when this is closed and nothing is being sent. */
  private final Promise<Void> quiet = Promise.promise();

  // All of this is touched on the loop only.
  private final ArrayDeque<Event> queue = new ArrayDeque<>();
  private final Set<String> inMemory = new HashSet<>();
  private final List<String> delivered = new ArrayList<>();
  private final List<Return> returned = new ArrayList<>();
  private @Nullable Event heldBack;
  private int inFlight;
  private boolean settling;
  private boolean polling;
  private boolean closed;

  WebhookDelivery(
      Vertx vertx, WebhookTarget target, WebhookTable table, Supplier<GatewayFaults> faults) {
    this.vertx = vertx;
    this.loop = vertx.getOrCreateContext();
    this.worker = vertx.createSharedWorkerExecutor("gateway-webhooks", 1);
    this.target = target;
    this.table = table;
    this.sender = new WebhookSender(vertx, target, MAX_IN_FLIGHT);
    this.faults = faults;
    this.pollTimer =
        vertx.setPeriodic(
            target.pollInterval().toMillis(), id -> loop.runOnContext(ignored -> poll()));
  }

  /** Sends a committed event soon. From any thread. */
  void offer(Event event) {
    if (event.delay().isZero()) {
      loop.runOnContext(
          ignored -> {
            if (!closed && queue.size() < MAX_QUEUED) {
              enqueue(event);
            }
          });
    }
  }

  /**
   * Sends nothing more, waits for outstanding answers, and returns unsent events, so that the next
   * process need not wait for the take-over.
   */
  @Override
  public void close() {
    vertx.cancelTimer(pollTimer);
    loop.runOnContext(ignored -> closeOnLoop());
    try {
      quiet
          .future()
          .toCompletionStage()
          .toCompletableFuture()
          .get(CLOSE_TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      log.warn("Webhooks did not close in order: {}", e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    sender.close();
    worker.close();
  }

  // ------------------------------------------------------------------ on the loop

  private void closeOnLoop() {
    closed = true;
    if (heldBack != null) {
      queue.add(heldBack);
    }
    queue.forEach(event -> returned.add(new Return(event.id(), 0, 0)));
    queue.clear();
    endIfQuiet();
  }

  private void endIfQuiet() {
    if (closed && inFlight == 0) {
      flush().onComplete(flushed -> quiet.tryComplete());
    }
  }

  private void enqueue(Event event) {
    if (!inMemory.add(event.id())) {
      return;
    }
    GatewayFaults.Webhooks now = faults.get().webhooks();
    if (heldBack == null && happens(now.reorderRate())) {
      heldBack = event;
      vertx.setTimer(HELD_BACK_MS, id -> loop.runOnContext(ignored -> release(event)));
    } else {
      queue.add(event);
      sendMore();
    }
  }

  private void release(Event event) {
    if (event.equals(heldBack)) {
      heldBack = null;
      queue.add(event);
      sendMore();
    }
  }

  private void sendMore() {
    while (inFlight < MAX_IN_FLIGHT && !queue.isEmpty()) {
      Event event = queue.poll();
      boolean twice = happens(faults.get().webhooks().duplicateRate());
      inFlight++;
      // In compose, so that an exception is a failed attempt and does not end the loop.
      Future<Boolean> sent = Future.succeededFuture(event).compose(sender::send);
      (twice ? sent.compose(first -> sender.send(event)) : sent)
          .onComplete(
              result ->
                  loop.runOnContext(ignored -> sent(event, result.succeeded() && result.result())));
    }
  }

  private void sent(Event event, boolean accepted) {
    inFlight--;
    if (accepted) {
      delivered.add(event.id());
    } else {
      returned.add(new Return(event.id(), 1, waitMs(event)));
    }
    if (closed) {
      endIfQuiet();
      return;
    }
    settleSoon();
    if (heldBack != null) {
      release(heldBack);
    }
    sendMore();
  }

  private long waitMs(Event event) {
    int failures = event.attempts() + 1;
    if (failures >= target.maxAttempts()) {
      log.warn("Giving up event {} after {} attempts", event.id(), failures);
      return -1;
    }
    double jitter = 1 + JITTER * (ThreadLocalRandom.current().nextDouble() * 2 - 1);
    return Math.round(target.retryAfter(failures).toMillis() * jitter);
  }

  /** A little later, so that one statement ends many events. */
  private void settleSoon() {
    if (!settling && !closed) {
      settling = true;
      vertx.setTimer(
          SETTLE_AFTER_MS,
          id ->
              loop.runOnContext(
                  ignored ->
                      flush()
                          .onComplete(
                              done ->
                                  loop.runOnContext(
                                      again -> {
                                        settling = false;
                                        if (!delivered.isEmpty() || !returned.isEmpty()) {
                                          settleSoon();
                                        }
                                      }))));
    }
  }

  private Future<Void> flush() {
    List<String> gone = List.copyOf(delivered);
    List<Return> back = List.copyOf(returned);
    delivered.clear();
    returned.clear();
    if (gone.isEmpty() && back.isEmpty()) {
      return Future.succeededFuture();
    }
    return worker
        .<Void>executeBlocking(
            () -> {
              table.settle(gone, back);
              return null;
            },
            false)
        .onFailure(e -> log.warn("{} webhooks will be sent again: {}", gone.size(), e.toString()))
        .onComplete(
            done ->
                loop.runOnContext(
                    ignored -> {
                      gone.forEach(inMemory::remove);
                      back.forEach(event -> inMemory.remove(event.event()));
                    }));
  }

  private void poll() {
    if (polling || closed || queue.size() >= CLAIM_BATCH) {
      return;
    }
    polling = true;
    worker
        .executeBlocking(() -> table.claimDue(target.takeOverAfter(), CLAIM_BATCH), false)
        .onFailure(e -> log.warn("Cannot look for webhooks that are due: {}", e.toString()))
        .onComplete(
            due ->
                loop.runOnContext(
                    ignored -> {
                      polling = false;
                      if (due.succeeded() && !closed) {
                        due.result().forEach(this::enqueue);
                      }
                    }));
  }

  private static boolean happens(double rate) {
    return rate > 0 && ThreadLocalRandom.current().nextDouble() < rate;
  }
}
