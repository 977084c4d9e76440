package dev.lockstep.server.reconciliation;

import dev.lockstep.fault.TransientFault;
import dev.lockstep.server.duty.DutyState;
import dev.lockstep.server.payment.PaymentHistory;
import dev.lockstep.server.payment.PaymentHistory.Charge;
import dev.lockstep.server.payment.PaymentHistory.GivenBack;
import dev.lockstep.server.payment.PaymentHistory.Listed;
import dev.lockstep.server.payment.PaymentHistory.ProviderSilent;
import dev.lockstep.server.reconciliation.ProviderTable.DueLook;
import dev.lockstep.server.reconciliation.ProviderTable.Paid;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the provider's own lists with the purchases: first what it has made since the last look,
 * in the order of time; then what has to be looked at once more; then, page by page and over and
 * over, the last day, since what was made then may have changed; and some purchases the other way
 * round.
 *
 * <p>What is made just now is under way, and left for the next look. What does not agree is asked
 * for once more after a while, and only then a finding. The provider is asked one thing at a time,
 * with a rest after each, and not again in this look once it wants to be asked less. No transaction
 * is open meanwhile.
 */
final class ProviderLook {
  private static final Logger log = LoggerFactory.getLogger(ProviderLook.class);

  private static final Duration WINDOW = Duration.ofHours(1);
  static final Duration HISTORY = Duration.ofDays(1);

  /** How far back the first look goes: what is older was before there was a reconciliation. */
  private static final Duration FIRST = Duration.ofHours(1);

  private static final Duration SHORTEST_REST = Duration.ofMillis(20);
  private static final int MAX_PAGES_AGAIN = 20;
  private static final int MAX_DUE = 100;
  private static final String METADATA = "purchase";

  private final Transactor transactor;
  private final TxOptions options;
  private final PaymentHistory history;
  private final Look look;
  private final DutyState duty;
  private final Duration patience;
  private final ProviderSample sample;
  private String complained = "";

  /**
   * @param look keeps what is found, and acts upon it
   * @param patience how long something may be under way before it is wrong
   */
  ProviderLook(
      Transactor transactor, PaymentHistory history, Look look, DutyState duty, Duration patience) {
    this.transactor = transactor;
    this.options = transactor.defaults().withLabel("provider").withIndexLookups();
    this.history = history;
    this.look = look;
    this.duty = duty;
    this.patience = patience;
    this.sample = new ProviderSample(transactor, options, history, patience);
  }

  /** One of the two lists. */
  private record Kept<T>(
      String name,
      Asked<T> list,
      Function<T, String> id,
      Function<T, Map<String, String>> metadata,
      Compared<T> comparison) {

    /** How many were not made in our name: the account is used for something else, too. */
    long foreign(List<T> items) {
      return items.stream().filter(one -> nameOf(metadata.apply(one)).isEmpty()).count();
    }
  }

  @FunctionalInterface
  private interface Asked<T> {
    Listed<T> page(Instant from, Instant before, @Nullable String after);
  }

  @FunctionalInterface
  private interface Compared<T> {
    void compare(List<T> items);
  }

  /**
   * Looks.
   *
   * @param budget how long new windows are gone on with
   * @return whether there is more that is new; empty: another node looks
   */
  Optional<Boolean> run(Duration budget) {
    Optional<JsonObject> taken = duty.take();
    if (taken.isEmpty()) {
      return Optional.empty();
    }
    JsonObject state = taken.get();
    Kept<Charge> charges =
        new Kept<>("charges", history::charges, Charge::id, Charge::metadata, this::compareCharges);
    Kept<GivenBack> refunds =
        new Kept<>(
            "refunds", history::refunds, GivenBack::id, GivenBack::metadata, this::compareRefunds);
    boolean more = false;
    try {
      Instant settled = transactor.call(options, ProviderTable::now).minus(patience);
      long end = System.nanoTime() + budget.toNanos();
      boolean moreCharges = fresh(charges, state, settled, end);
      more = fresh(refunds, state, settled, end) || moreCharges;
      due();
      again(charges, state, settled);
      again(refunds, state, settled);
      sample.go(state, settled);
      look.act(() -> {});
      complained = "";
      state.remove("error");
    } catch (ProviderSilent e) {
      complain(e);
      state.put("error", String.valueOf(e.getMessage()));
      more = false;
    } finally {
      duty.save(state);
      duty.leave();
    }
    return Optional.of(more);
  }

  /** Once for each kind of trouble, not each minute. */
  private void complain(ProviderSilent silent) {
    String kind = String.valueOf(silent.getCause());
    String known = kind.replaceAll("\\b[a-zA-Z_]*+\\d[0-9a-zA-Z_]*+", "*");
    if (!known.equals(complained)) {
      log.warn("The payment provider's lists were not compared: {}", silent.getMessage());
      complained = known;
    }
  }

  /** Windows of time, the oldest first: each is gone through before the mark moves past it. */
  private <T> boolean fresh(Kept<T> kept, JsonObject state, Instant settled, long endNanos) {
    JsonObject place = state.getJsonObject(kept.name(), new JsonObject());
    state.put(kept.name(), place);
    long from = place.getLong("mark", settled.minus(FIRST).getEpochSecond());
    while (from < settled.getEpochSecond() && System.nanoTime() < endNanos && !stopped()) {
      long before =
          place.getLong("before", Math.min(from + WINDOW.toSeconds(), settled.getEpochSecond()));
      long began = System.nanoTime();
      Listed<T> page =
          kept.list()
              .page(
                  Instant.ofEpochSecond(from),
                  Instant.ofEpochSecond(before),
                  place.getString("after"));
      kept.comparison().compare(page.items());
      place.put("foreign", place.getLong("foreign", 0L) + kept.foreign(page.items()));
      if (page.more() && !page.items().isEmpty()) {
        place.put("before", before);
        place.put("after", kept.id().apply(page.items().get(page.items().size() - 1)));
      } else {
        from = before;
        place.remove("before");
        place.remove("after");
      }
      place.put("mark", from);
      long until = Math.min(mark(state, "charges", from), mark(state, "refunds", from));
      state.put("until", Instant.ofEpochSecond(until).toString());
      duty.save(state);
      rest(began);
    }
    place.put("mark", from);
    return from < settled.getEpochSecond();
  }

  private static long mark(JsonObject state, String list, long otherwise) {
    return state.getJsonObject(list, new JsonObject()).getLong("mark", otherwise);
  }

  /** Some more pages of the last day, from the newest back, and then from the newest again. */
  private <T> void again(Kept<T> kept, JsonObject state, Instant settled) {
    String place = kept.name() + "Again";
    for (int pages = 0; pages < MAX_PAGES_AGAIN && !stopped(); pages++) {
      long began = System.nanoTime();
      Listed<T> page = kept.list().page(settled.minus(HISTORY), settled, state.getString(place));
      kept.comparison().compare(page.items());
      if (!page.more() || page.items().isEmpty()) {
        state.remove(place);
        return;
      }
      state.put(place, kept.id().apply(page.items().get(page.items().size() - 1)));
      rest(began);
    }
    duty.save(state);
  }

  private void compareCharges(List<Charge> charges) {
    compare(
        charges,
        Charge::metadata,
        (charge, purchase) ->
            ProviderJudgement.of(charge, purchase).isPresent()
                ? Optional.of(charge.id())
                : Optional.empty());
  }

  private void compareRefunds(List<GivenBack> refunds) {
    compare(
        refunds,
        GivenBack::metadata,
        (refund, purchase) ->
            purchase != null && ProviderJudgement.isSuspect(refund, purchase)
                ? refund.payment()
                : Optional.empty());
  }

  /** The payment that has to be looked at; empty: it agrees. */
  @FunctionalInterface
  private interface Suspicion<T> {
    Optional<String> of(T item, @Nullable Paid purchase);
  }

  /** Each alone: one that cannot be compared keeps no other from it. */
  private <T> void compare(
      List<T> items, Function<T, Map<String, String>> metadata, Suspicion<T> suspicion) {
    List<String> names = items.stream().map(one -> nameOf(metadata.apply(one))).toList();
    Map<String, Paid> purchases =
        transactor.call(options, connection -> ProviderTable.find(connection, names));
    for (int i = 0; i < items.size(); i++) {
      T item = items.get(i);
      String name = names.get(i);
      if (!name.isEmpty()) {
        alone(
            item,
            () ->
                suspicion
                    .of(item, purchases.get(name))
                    .ifPresent(payment -> suspect(payment, name)));
      }
    }
  }

  /** Empty: it was not made in our name. */
  private static String nameOf(Map<String, String> metadata) {
    // A zero byte is no text to the database.
    return metadata.getOrDefault(METADATA, "").replace("\0", "");
  }

  private void suspect(String payment, String purchase) {
    transactor.run(
        options,
        connection -> ProviderTable.suspect(connection, payment, null, purchase, patience));
  }

  /** Keeps a fault of one thing on the provider's lists from the others. */
  static void alone(Object what, Runnable work) {
    try {
      work.run();
    } catch (ProviderSilent | TransientFault e) {
      throw e;
    } catch (RuntimeException e) {
      if (stopped()) {
        throw e;
      }
      log.error("The payment provider's {} cannot be compared: {}", what, e.toString());
    }
  }

  /** What did not agree: asked for once more, both sides; then it agrees, or is a finding. */
  private void due() {
    List<DueLook> due =
        transactor.call(
            options, connection -> ProviderTable.takeDue(connection, patience, MAX_DUE));
    for (DueLook one : due) {
      if (stopped()) {
        return;
      }
      long began = System.nanoTime();
      alone(one, () -> due(one));
      rest(began);
    }
  }

  private void due(DueLook one) {
    String payment = one.payment();
    String purchase = one.purchase();
    if (payment != null && !payment.isEmpty() && purchase != null) {
      // Of an earlier release: a refund. Its payment tells of all its refunds.
      suspect(payment, purchase);
    }
    Optional<Finding> finding =
        payment == null && purchase != null ? ofCharge(one) : Optional.empty();
    if (finding.isPresent()) {
      look.keep(List.of(finding.get()));
    }
    // Another kind than before, perhaps: what was found of it is replaced.
    transactor.run(
        options,
        connection -> {
          if (finding.isEmpty()) {
            ProviderTable.agrees(connection, one.object());
          } else {
            FindingTable.forgetOthersOfProvider(connection, one.object(), finding.get().kind());
          }
        });
  }

  private Optional<Finding> ofCharge(DueLook due) {
    Optional<Charge> charge = history.charge(due.object());
    Paid purchase = purchase(due.purchase());
    if (charge.isEmpty()) {
      return Optional.ofNullable(purchase)
          .filter(one -> one.isSold() && due.object().equals(one.intent()))
          .map(ProviderJudgement::unknownThere);
    }
    Optional<Finding> finding = ProviderJudgement.of(charge.get(), purchase);
    if (finding.isPresent() && finding.get().kind() == Kind.CHARGED_UNKNOWN) {
      // Given back already, in the console perhaps: then nobody has paid for nothing.
      return history.givenBackOf(due.object()) >= charge.get().received()
          ? Optional.empty()
          : finding;
    }
    return finding.isPresent() || purchase == null || !purchase.isSold()
        ? finding
        : ProviderJudgement.ofRefunds(charge.get(), purchase, history.givenBackOf(due.object()));
  }

  private @Nullable Paid purchase(@Nullable String name) {
    return name == null
        ? null
        : transactor
            .call(options, connection -> ProviderTable.find(connection, List.of(name)))
            .get(name);
  }

  static boolean stopped() {
    return Thread.currentThread().isInterrupted();
  }

  static void rest(long beganNanos) {
    LockSupport.parkNanos(Math.max(SHORTEST_REST.toNanos(), System.nanoTime() - beganNanos));
  }
}
