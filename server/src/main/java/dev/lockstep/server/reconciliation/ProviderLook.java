package dev.lockstep.server.reconciliation;

import dev.lockstep.fault.TransientFault;
import dev.lockstep.server.duty.DutyState;
import dev.lockstep.server.payment.PaymentHistory;
import dev.lockstep.server.payment.PaymentHistory.Charge;
import dev.lockstep.server.payment.PaymentHistory.Listed;
import dev.lockstep.server.payment.PaymentHistory.ProviderRefund;
import dev.lockstep.server.payment.PaymentHistory.ProviderSilent;
import dev.lockstep.server.reconciliation.ProviderTable.DueLook;
import dev.lockstep.server.reconciliation.ProviderTable.Paid;
import dev.lockstep.sql.RoundTrip;
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
 * Compares the provider's lists with the purchases: first what is new since the last look, in order
 * of time; then what is due for a second look; then the last day, page by page and over and over,
 * since it may have changed; and some purchases in the opposite direction.
 *
 * <p>Anything made just now is in progress, and left to the next look. A disagreement becomes a
 * finding only if it persists at a second look after a while. The provider gets one request at a
 * time, with a rest after each, and none in this look once it asks us to slow down. No transaction
 * is open meanwhile.
 */
final class ProviderLook {
  private static final Logger log = LoggerFactory.getLogger(ProviderLook.class);

  private static final Duration WINDOW = Duration.ofHours(1);
  static final Duration HISTORY = Duration.ofDays(1);

  /** How far back the first look goes; older objects precede the reconciliation. */
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
   * @param look stores findings and acts upon them
   * @param patience how long something may be in progress before it is wrong
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

    /** Counts objects that name no purchase: the account has other uses, too. */
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
   * Runs one look.
   *
   * @param budget how long to process new windows
   * @return whether there is more that is new; empty if another node looks
   */
  Optional<Boolean> run(Duration budget) {
    Optional<JsonObject> taken = duty.take();
    if (taken.isEmpty()) {
      return Optional.empty();
    }
    JsonObject state = taken.get();
    Kept<Charge> charges =
        new Kept<>("charges", history::charges, Charge::id, Charge::metadata, this::compareCharges);
    Kept<ProviderRefund> refunds =
        new Kept<>(
            "refunds",
            history::refunds,
            ProviderRefund::id,
            ProviderRefund::metadata,
            this::compareRefunds);
    boolean more = false;
    try {
      Instant settled = transactor.call(options, RoundTrip::now).minus(patience);
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

  /** Logs once per kind of failure, not every minute. */
  private void complain(ProviderSilent silent) {
    String kind = String.valueOf(silent.getCause());
    String known = kind.replaceAll("\\b[a-zA-Z_]*+\\d[0-9a-zA-Z_]*+", "*");
    if (!known.equals(complained)) {
      log.warn("The payment provider's lists were not compared: {}", silent.getMessage());
      complained = known;
    }
  }

  /** Windows of time, oldest first. The mark moves past a window only when it is done. */
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

  /** A few more pages of the last day, newest first, and then from the newest again. */
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

  private void compareRefunds(List<ProviderRefund> refunds) {
    compare(
        refunds,
        ProviderRefund::metadata,
        (refund, purchase) ->
            purchase != null && ProviderJudgement.isSuspect(refund, purchase)
                ? refund.payment()
                : Optional.empty());
  }

  /** The payment to look at; empty if it agrees. */
  @FunctionalInterface
  private interface Suspicion<T> {
    Optional<String> of(T item, @Nullable Paid purchase);
  }

  /** Separately, so that an object that cannot be compared does not block others. */
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

  /** Empty if it names no purchase. */
  private static String nameOf(Map<String, String> metadata) {
    // PostgreSQL text cannot hold a zero byte.
    return metadata.getOrDefault(METADATA, "").replace("\0", "");
  }

  private void suspect(String payment, String purchase) {
    transactor.run(
        options,
        connection -> ProviderTable.suspect(connection, payment, null, purchase, patience));
  }

  /** Confines a fault to one object of the provider's lists. */
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

  /** Looks at suspects again, on both sides: each now agrees or becomes a finding. */
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
      // Written by an earlier release: a refund. Its payment covers all its refunds.
      suspect(payment, purchase);
    }
    Optional<Finding> finding =
        payment == null && purchase != null ? ofCharge(one) : Optional.empty();
    if (finding.isPresent()) {
      look.keep(List.of(finding.get()));
    }
    // It may be of another kind than before, so it replaces earlier findings.
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
    if (finding.isPresent() && finding.get().kind() == FindingKind.CHARGED_UNKNOWN) {
      // Already refunded, for example in the console: nobody paid for nothing.
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
