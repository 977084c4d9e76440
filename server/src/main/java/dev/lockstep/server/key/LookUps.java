package dev.lockstep.server.key;

import dev.lockstep.server.api.Principal;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.rate.Allowance;
import dev.lockstep.server.rate.TokenBuckets;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks up keys that are new here. Each look-up first takes a token of its network, as if the key
 * were unknown, and gives it back if the key is good. Without a token it waits for the look-ups
 * under way: when a sale opens, hundreds of buyers may share one address, each using a good key for
 * the first time. It is refused once no look-up is left that could return a token. So no address
 * gets more unknown keys looked up than its rate allows, however many it sends at once.
 * Thread-safe.
 */
final class LookUps {
  /** By default twice the connections that one address may have. */
  static final int MAX_WAITING = 2_000;

  private final TokenBuckets unknownKeys;

  /** The networks with a look-up under way; the map is its own lock. */
  private final Map<String, Line> lines = new HashMap<>();

  LookUps(TokenBuckets unknownKeys) {
    this.unknownKeys = unknownKeys;
  }

  private static final class Line {
    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private int underWay;
  }

  /**
   * A waiting look-up. It continues in the context of its own request, not of the one that made
   * room.
   */
  private record Waiting(
      Supplier<Future<Optional<Principal>>> lookUp,
      Promise<Optional<Principal>> promise,
      @Nullable Context context) {
    private void then(Runnable step) {
      if (context == null) {
        step.run();
      } else {
        context.runOnContext(unused -> step.run());
      }
    }
  }

  /** Looks up a key, now or when a token is free. Fails with a problem (429) if none will be. */
  Future<Optional<Principal>> run(String network, Supplier<Future<Optional<Principal>>> lookUp) {
    Waiting one = new Waiting(lookUp, Promise.promise(), Vertx.currentContext());
    List<Runnable> next;
    synchronized (lines) {
      Line line = lines.computeIfAbsent(network, unused -> new Line());
      if (line.waiting.size() >= MAX_WAITING) {
        return Future.failedFuture(refusal(unknownKeys.look(network)));
      }
      line.waiting.add(one);
      next = advance(network, line);
    }
    next.forEach(Runnable::run);
    return one.promise().future();
  }

  private void ended(String network, boolean unknown) {
    List<Runnable> next;
    synchronized (lines) {
      Line line = Objects.requireNonNull(lines.get(network));
      line.underWay--;
      if (!unknown) {
        unknownKeys.giveBack(network);
      }
      next = advance(network, line);
    }
    next.forEach(Runnable::run);
  }

  /** Returns what to run outside the lock. */
  private List<Runnable> advance(String network, Line line) {
    List<Runnable> next = new ArrayList<>();
    while (!line.waiting.isEmpty()) {
      Allowance allowance = unknownKeys.take(network);
      if (!allowance.granted() && line.underWay > 0) {
        return next;
      }
      Waiting one = line.waiting.remove();
      if (allowance.granted()) {
        line.underWay++;
        next.add(() -> one.then(() -> begin(network, one)));
      } else {
        next.add(() -> one.then(() -> one.promise().fail(refusal(allowance))));
      }
    }
    if (line.underWay == 0) {
      lines.remove(network);
    }
    return next;
  }

  private void begin(String network, Waiting one) {
    Future.succeededFuture()
        .compose(unused -> one.lookUp().get())
        .onComplete(
            found -> {
              ended(network, found.succeeded() && found.result().isEmpty());
              one.promise().handle(found);
            });
  }

  static RuntimeException refusal(Allowance allowance) {
    return Problem.rateLimited(allowance, "Too many unknown keys came from this address.")
        .asException();
  }
}
