package dev.lockstep.server.purchase;

import dev.lockstep.hold.Companion;
import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldIdReused;
import dev.lockstep.hold.HoldOutcome.LifetimeReached;
import dev.lockstep.once.Claim;
import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceEntry;
import dev.lockstep.once.OnceKey;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.StoredAnswer;
import dev.lockstep.server.cart.Outcomes;
import dev.lockstep.server.cases.Cases;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Begins the purchases of a batch: their rows and those of their idempotency keys, in the
 * transaction that takes their holds, with a few statements however many there are.
 *
 * <p>The row of a key does not hold the answer, which nobody knows yet, but names the purchase;
 * there the answer is written by the step that decides it. A repetition is told that answer, or
 * that the first is still under way.
 */
final class BeginCompanion implements Companion<Order> {
  /** What a key that was looked up is answered, given the purchases that keys name. */
  private static final Cases<Claim, Function<Map<UUID, Purchase>, Answer>> EARLIER =
      Cases.<Claim, Function<Map<UUID, Purchase>, Answer>>over(Claim.class)
          .when(Claim.Answered.class, before -> known -> stored(before.answer(), known))
          .when(Claim.InUse.class, inUse -> known -> Problem.keyInUse().toAnswer())
          .when(Claim.Reused.class, reused -> known -> Problem.keyReused().toAnswer())
          // Looking a key up claims nothing.
          .never(Claim.Fresh.class)
          .complete();

  private final Once once;
  private final Duration maxPayWithin;
  private final Duration lookAfter;

  /**
   * @param maxPayWithin longest time to pay, whatever the campaign says: within it holds are kept
   * @param lookAfter when a timer looks after what was begun
   */
  BeginCompanion(Once once, Duration maxPayWithin, Duration lookAfter) {
    this.once = once;
    this.maxPayWithin = maxPayWithin;
    this.lookAfter = lookAfter;
  }

  /** The key is used already, and this order would have taken stock under it. */
  static final class KeyTaken extends RuntimeException {
    private static final long serialVersionUID = 1L;

    KeyTaken() {
      super("The idempotency key is used already", null, false, false);
    }
  }

  @Override
  public void write(Exchange exchange, List<Accompanied<Order>> outcomes) throws SQLException {
    long campaign = outcomes.get(0).payload().campaign.id();
    Map<OnceKey, Fingerprint> lookedUp = new HashMap<>();
    outcomes.forEach(o -> lookedUp.putIfAbsent(o.payload().key, o.payload().fingerprint));
    RoundTrip trip = exchange.trip();
    Supplier<Map<OnceKey, Claim>> found = once.addFind(trip, campaign, lookedUp);
    Rows<Instant> now = PurchaseTable.addNow(trip);
    Rows<Purchase> older =
        PurchaseTable.addFind(
            trip,
            campaign,
            outcomes.stream().flatMap(o -> o.payload().olderId().stream()).toList());
    trip.send();
    Map<OnceKey, Claim> claims = found.get();
    Map<UUID, Purchase> known = known(exchange, campaign, outcomes, claims.values());
    Batch batch = new Batch(known, older.list());
    for (Accompanied<Order> asked : outcomes) {
      Order order = asked.payload();
      Claim claim = claims.get(order.key);
      if (!lookedUp.entrySet().contains(Map.entry(order.key, order.fingerprint))) {
        // Another request under the same key is in this batch, and was looked up instead.
        claim =
            once.find(exchange.connection(), campaign, Map.of(order.key, order.fingerprint))
                .get(order.key);
      }
      Answer before = earlier(order, claim, batch);
      if (before != null) {
        order.answered(before);
        if (tookStock(asked)) {
          throw new KeyTaken();
        }
      } else {
        batch.decide(order, asked.outcome());
      }
    }
    batch.write(exchange, campaign, now.list().get(0));
  }

  /** Purchases that a key names, or that own a hold already; most batches have neither. */
  private static Map<UUID, Purchase> known(
      Exchange exchange, long campaign, List<Accompanied<Order>> outcomes, Iterable<Claim> claims)
      throws SQLException {
    Set<UUID> ids = new HashSet<>();
    for (Claim claim : claims) {
      if (claim instanceof Claim.Answered answered) {
        KeyedPurchase.of(answered.answer()).ifPresent(ids::add);
      }
    }
    for (Accompanied<Order> asked : outcomes) {
      heldBy(asked.outcome())
          .filter(hold -> !tookStock(asked))
          .ifPresent(hold -> ids.add(hold.id().value()));
    }
    return ids.isEmpty()
        ? Map.of()
        : PurchaseTable.findWithHolds(exchange.connection(), campaign, ids);
  }

  /** Stock was taken for this order, just now. A hold that is merely kept longer took none. */
  private static boolean tookStock(Accompanied<Order> asked) {
    return !asked.payload().checkout
        && asked.outcome() instanceof Granted granted
        && !granted.replayed();
  }

  /** At the end of its lifetime a hold is not kept longer; it can be paid for all the same. */
  private static Optional<Hold> heldBy(HoldOutcome outcome) {
    if (outcome instanceof Granted granted) {
      return Optional.of(granted.hold());
    }
    return outcome instanceof LifetimeReached reached
        ? Optional.of(reached.hold())
        : Optional.empty();
  }

  /** What the key was used for before this order came, in the table or in this batch. */
  private static @Nullable Answer earlier(Order order, @Nullable Claim claim, Batch batch) {
    if (claim != null) {
      return EARLIER.of(claim).apply(batch.known);
    }
    Order first = batch.first.get(order.key);
    if (first == null) {
      return order.olderId().map(batch.older::get).map(one -> repeated(order, one)).orElse(null);
    }
    if (!first.fingerprint.equals(order.fingerprint)) {
      return Problem.keyReused().toAnswer();
    }
    Answer given = first.answer();
    return given == null ? Problem.keyInUse().toAnswer() : StoredAnswer.replayed(given);
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
    private final Map<UUID, Purchase> known;
    private final Map<UUID, Purchase> older = new HashMap<>();
    private final Map<OnceKey, Order> first = new LinkedHashMap<>();
    private final List<OnceEntry> entries = new ArrayList<>();
    private final Map<UUID, Order> begun = new LinkedHashMap<>();
    private final List<Purchase> fresh = new ArrayList<>();
    private final Map<PurchaseId, String> createdBy = new HashMap<>();

    Batch(Map<UUID, Purchase> known, List<Purchase> older) {
      this.known = known;
      older.forEach(purchase -> this.older.put(purchase.id().value(), purchase));
    }

    void decide(Order order, HoldOutcome outcome) {
      Optional<Hold> held = heldBy(outcome);
      if (held.isEmpty()) {
        refuse(order, Outcomes.problem(order.campaign, outcome), outcome);
        return;
      }
      UUID id = held.get().id().value();
      Purchase before = known.get(id);
      if (before != null && !order.checkout) {
        // The key was forgotten after its day; the purchase was not.
        order.answered(answerOf(before));
      } else if (before != null || begun.containsKey(id)) {
        refuse(order, inCheckout(), outcome);
      } else {
        begin(order, order.of(held.get()));
      }
    }

    private void begin(Order order, Purchase purchase) {
      first.put(order.key, order);
      order.begun(purchase);
      begun.put(purchase.id().value(), order);
      fresh.add(purchase);
      createdBy.put(purchase.id(), order.key.owner());
      entries.add(
          new OnceEntry(order.key, order.fingerprint, KeyedPurchase.text(purchase.id().value())));
    }

    private void refuse(Order order, Problem problem, HoldOutcome outcome) {
      Answer answer = problem.toAnswer();
      order.answered(answer);
      if (!(outcome instanceof HoldIdReused)) {
        first.put(order.key, order);
        entries.add(new OnceEntry(order.key, order.fingerprint, StoredAnswer.text(answer)));
      }
    }

    void write(Exchange exchange, long campaign, Instant now) throws SQLException {
      RoundTrip trip = exchange.trip();
      if (!entries.isEmpty()) {
        once.addRecord(trip, campaign, entries);
      }
      if (!fresh.isEmpty()) {
        begin(trip, campaign, now);
      }
      exchange.defer(trip);
    }

    private void begin(RoundTrip trip, long campaign, Instant now) {
      Duration payWithin = begun.values().iterator().next().campaign.holdFor();
      if (payWithin.compareTo(maxPayWithin) > 0) {
        payWithin = maxPayWithin;
      }
      PurchaseTable.addInsert(trip, campaign, fresh, createdBy, payWithin, lookAfter);
      Instant deadline = now.plus(payWithin);
      begun.forEach(
          (id, order) -> order.begun(Objects.requireNonNull(order.begun()).at(now, deadline)));
    }
  }

  private static Problem inCheckout() {
    return Problem.of(
        "hold-in-checkout", 409, "Hold in checkout", "The hold is being paid for already.");
  }
}
