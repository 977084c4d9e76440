package dev.lockstep.server.purchase;

import dev.lockstep.combine.CommandRefused;
import dev.lockstep.combine.Companion;
import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldIdReused;
import dev.lockstep.hold.HoldOutcome.LifetimeReached;
import dev.lockstep.once.Claim;
import dev.lockstep.once.Once;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.BatchKeys;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.StoredAnswer;
import dev.lockstep.server.cart.Outcomes;
import dev.lockstep.server.purchase.BeginResult.Answered;
import dev.lockstep.server.purchase.BeginResult.Begun;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.work.OpenTransaction;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Begins the purchases of a batch: their rows and those of their idempotency keys, in the
 * transaction that takes their holds, with a few statements per batch.
 *
 * <p>The answer is not known yet, so the key's row names the purchase, and the step that decides
 * the answer writes it there. A repeated request gets that answer, or 409 while the first is in
 * progress.
 */
final class BeginCompanion implements Companion<Order, HoldOutcome, BeginResult> {
  private final Once once;
  private final Duration maxPayWithin;
  private final Duration lookAfter;

  /**
   * @param maxPayWithin the most time to pay, whatever the campaign says; holds are kept that long
   * @param lookAfter when the timer first looks at a new purchase
   */
  BeginCompanion(Once once, Duration maxPayWithin, Duration lookAfter) {
    this.once = once;
    this.maxPayWithin = maxPayWithin;
    this.lookAfter = lookAfter;
  }

  @Override
  public List<BeginResult> write(
      OpenTransaction transaction, List<Accompanied<Order, HoldOutcome>> commands)
      throws SQLException {
    Exchange exchange = Exchange.of(transaction);
    long campaign = commands.get(0).payload().campaign().id();
    List<Order> orders = commands.stream().map(Accompanied::payload).toList();
    RoundTrip trip = exchange.trip();
    BatchKeys keys = new BatchKeys(once, trip, orders);
    // Becomes the time of creation.
    Rows<Instant> now = trip.now();
    Rows<Purchase> older =
        PurchaseTable.addFind(
            trip, campaign, orders.stream().flatMap(order -> order.olderId().stream()).toList());
    trip.send();
    Map<UUID, Purchase> known = known(exchange, campaign, commands, keys.stored());
    Batch batch = new Batch(keys, known, older.list(), now.list().get(0));
    List<BeginResult> results = new ArrayList<>(commands.size());
    for (Accompanied<Order, HoldOutcome> asked : commands) {
      Order order = asked.payload();
      Answer before = keys.earlier(exchange, order, text -> stored(text, known));
      if (before == null) {
        before = batch.olderAnswer(order);
      }
      if (before == null) {
        results.add(batch.decide(order, asked.outcome()));
      } else if (tookStock(asked)) {
        throw new CommandRefused(new Answered(before));
      } else {
        results.add(new Answered(before));
      }
    }
    batch.write(exchange, campaign);
    return results;
  }

  /** Purchases that a key names, or that own a hold already; most batches have neither. */
  private static Map<UUID, Purchase> known(
      Exchange exchange,
      long campaign,
      List<Accompanied<Order, HoldOutcome>> commands,
      Iterable<Claim> claims)
      throws SQLException {
    Set<UUID> ids = new HashSet<>();
    for (Claim claim : claims) {
      if (claim instanceof Claim.Answered answered) {
        KeyedPurchase.of(answered.answer()).ifPresent(ids::add);
      }
    }
    for (Accompanied<Order, HoldOutcome> asked : commands) {
      heldBy(asked.outcome())
          .filter(hold -> !tookStock(asked))
          .ifPresent(hold -> ids.add(hold.id().value()));
    }
    return ids.isEmpty()
        ? Map.of()
        : PurchaseTable.findWithHolds(exchange.connection(), campaign, ids);
  }

  /** Whether stock was taken for this order just now. Extending a hold takes none. */
  private static boolean tookStock(Accompanied<Order, HoldOutcome> asked) {
    return !asked.payload().checkout()
        && asked.outcome() instanceof Granted granted
        && !granted.replayed();
  }

  /** A hold at the end of its lifetime cannot be extended, but can still be paid for. */
  private static Optional<Hold> heldBy(HoldOutcome outcome) {
    if (outcome instanceof Granted granted) {
      return Optional.of(granted.hold());
    }
    return outcome instanceof LifetimeReached reached
        ? Optional.of(reached.hold())
        : Optional.empty();
  }

  private static Answer stored(String answer, Map<UUID, Purchase> known) {
    return KeyedPurchase.of(answer)
        .map(id -> answerOf(known.get(id)))
        .orElseGet(() -> StoredAnswer.replayed(answer));
  }

  private static Answer repeated(Order order, Purchase older) {
    return order.isRepeated(older) ? answerOf(older) : Problem.keyReused().toAnswer();
  }

  private static Answer answerOf(@Nullable Purchase purchase) {
    return purchase == null || purchase.answer().isEmpty()
        ? Problem.keyInUse().toAnswer()
        : StoredAnswer.replayed(purchase.answer().get());
  }

  /** What one batch begins and records. */
  private final class Batch {
    private final BatchKeys keys;
    private final Map<UUID, Purchase> known;
    private final Map<UUID, Purchase> older = new HashMap<>();
    private final Instant now;
    private final Map<UUID, Purchase> begun = new LinkedHashMap<>();
    private final Map<PurchaseId, String> createdBy = new HashMap<>();
    private Duration payWithin = maxPayWithin;

    Batch(BatchKeys keys, Map<UUID, Purchase> known, List<Purchase> older, Instant now) {
      this.keys = keys;
      this.known = known;
      older.forEach(purchase -> this.older.put(purchase.id().value(), purchase));
      this.now = now;
    }

    /** The answer of an older release, which named its purchase differently; null if none. */
    @Nullable Answer olderAnswer(Order order) {
      return order.olderId().map(older::get).map(one -> repeated(order, one)).orElse(null);
    }

    BeginResult decide(Order order, HoldOutcome outcome) {
      Optional<Hold> held = heldBy(outcome);
      if (held.isEmpty()) {
        return refuse(order, Outcomes.problem(order.campaign(), outcome), outcome);
      }
      UUID id = held.get().id().value();
      Purchase before = known.get(id);
      if (before != null && !order.checkout()) {
        // The key was forgotten after its day; the purchase was not.
        return new Answered(answerOf(before));
      }
      return before != null || begun.containsKey(id)
          ? refuse(order, inCheckout(), outcome)
          : begin(order, order.of(held.get()));
    }

    private BeginResult begin(Order order, Purchase purchase) {
      if (begun.isEmpty()) {
        Duration holdFor = order.campaign().holdFor();
        payWithin = holdFor.compareTo(maxPayWithin) > 0 ? maxPayWithin : holdFor;
      }
      UUID id = purchase.id().value();
      begun.put(id, purchase);
      createdBy.put(purchase.id(), order.key().owner());
      keys.use(order, KeyedPurchase.text(id));
      return new Begun(purchase.at(now, now.plus(payWithin)));
    }

    private BeginResult refuse(Order order, Problem problem, HoldOutcome outcome) {
      Answer answer = problem.toAnswer();
      if (!(outcome instanceof HoldIdReused)) {
        keys.answer(order, answer);
      }
      return new Answered(answer);
    }

    void write(Exchange exchange, long campaign) throws SQLException {
      RoundTrip trip = exchange.trip();
      keys.addRecord(trip);
      if (!begun.isEmpty()) {
        List<Purchase> fresh = List.copyOf(begun.values());
        PurchaseTable.addInsert(trip, campaign, fresh, createdBy, payWithin, lookAfter);
      }
      exchange.defer(trip);
    }
  }

  private static Problem inCheckout() {
    return Problem.of(
        "hold-in-checkout", 409, "Hold in checkout", "The hold is being paid for already.");
  }
}
