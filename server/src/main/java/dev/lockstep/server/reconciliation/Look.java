package dev.lockstep.server.reconciliation;

import dev.lockstep.fault.DatabaseUnavailable;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.server.duty.DutyState;
import dev.lockstep.server.reconciliation.Changes.ChangePage;
import dev.lockstep.server.reconciliation.Changes.ChangedPool;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.tx.Isolation;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import dev.lockstep.tx.TxWork;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One look at money and goods: first recent changes, what has waited too long, and earlier
 * findings; then as many slices of the whole as time allows. After each slice it rests as long as
 * the slice took, which leaves sales at least half of the time.
 *
 * <p>Campaigns are processed one at a time. A failure, such as a locked campaign, is logged and
 * retried by the next look, and the other campaigns go on.
 *
 * <p>One node at a time looks, on one connection, in transactions of some thousand index look-ups.
 * Blocks; run by one thread.
 */
final class Look {
  private static final Logger log = LoggerFactory.getLogger(Look.class);

  private static final int PURCHASES = 1_000;
  private static final int HOLDS = 4_000;
  private static final int CHANGES = 2_000;
  private static final int MAX_AGAIN = 1_000;
  private static final int MAX_REASON = 500;
  private static final Duration SAVE_EVERY = Duration.ofSeconds(1);
  static final String ACTOR = "lockstep: reconciliation";

  private final Transactor transactor;
  private final TxOptions options;

  /** Several statements compare what must agree, so they see one snapshot. */
  private final TxOptions reading;

  private final Campaigns campaigns;
  private final Comparison comparison;
  private final DutyState duty;
  private final BiConsumer<FindingKind, Integer> onNew;

  /**
   * Campaigns that could not be paused in this look: another try would cost another lock timeout.
   */
  private final Set<Long> refused = ConcurrentHashMap.newKeySet();

  private long renewedAt;

  /**
   * @param onNew receives the number of new findings per kind
   */
  Look(
      Transactor transactor,
      Campaigns campaigns,
      Comparison comparison,
      DutyState duty,
      BiConsumer<FindingKind, Integer> onNew) {
    this.transactor = transactor;
    this.options = transactor.defaults().withLabel("reconciliation").withIndexLookups();
    this.reading = options.withIsolation(Isolation.REPEATABLE_READ).asReadOnly();
    this.campaigns = campaigns;
    this.comparison = comparison;
    this.duty = duty;
    this.onNew = onNew;
  }

  /**
   * Runs one look.
   *
   * @param budget how long to process slices of the whole
   * @return whether a sweep is still in progress; empty if another node looks
   */
  Optional<Boolean> run(Duration budget) {
    refused.clear();
    Optional<JsonObject> taken = duty.take();
    if (taken.isEmpty()) {
      return Optional.empty();
    }
    try {
      renewedAt = System.nanoTime();
      Instant now = call(RoundTrip::now);
      changes();
      keep(call(connection -> comparison.open(connection, MAX_AGAIN)));
      // Before long work: a campaign that gives away goods pauses first.
      act(this::renew);
      again(now);
      act(this::renew);
      JsonObject state = taken.get().put("checkedAt", now.toString());
      return Optional.of(sweep(state, now, budget));
    } finally {
      duty.leave();
    }
  }

  private void changes() {
    for (ChangedPool pool : call(Changes::pools)) {
      alone("The changes", pool.campaign(), () -> changes(pool));
    }
  }

  private void changes(ChangedPool pool) {
    // The trail may be behind, if the database came back from a crash without acknowledged changes.
    // The sweep covers what has come since.
    long after = Math.min(pool.seen(), pool.seq());
    boolean more = after < pool.seq();
    while (more && !stopped()) {
      long from = after;
      long began = System.nanoTime();
      ChangePage page = call(connection -> Changes.next(connection, pool, from, CHANGES));
      List<UUID> holds = List.copyOf(page.holds());
      keep(call(connection -> comparison.holds(connection, pool.campaign(), holds)));
      after = page.last();
      save(pool, after);
      renew();
      more = page.rows() == CHANGES;
      rest(began);
    }
    if (pool.seen() > pool.seq()) {
      save(pool, pool.seq());
    }
  }

  /**
   * Confines a fault to its campaign.
   *
   * @return whether it succeeded
   * @throws DatabaseUnavailable which is no fault of the campaign and ends the look
   */
  private static boolean alone(String what, long campaign, Runnable work) {
    try {
      work.run();
      return true;
    } catch (DatabaseUnavailable e) {
      throw e;
    } catch (RuntimeException e) {
      if (stopped()) {
        throw e;
      }
      log.warn(
          "Reconciliation: {} of campaign {} failed; the next look retries: {}",
          what,
          campaign,
          e.toString());
      return false;
    }
  }

  /** Keeps the lease short, so that a frozen node does not block others for long. */
  private void renew() {
    if (System.nanoTime() - renewedAt > SAVE_EVERY.toNanos()) {
      renewedAt = System.nanoTime();
      duty.take();
    }
  }

  private void save(ChangedPool pool, long seq) {
    transactor.run(options, connection -> Changes.save(connection, pool, seq));
  }

  /** Looks at all earlier findings again and forgets those that agree by now. */
  private void again(Instant now) {
    FindingTable.Key after = FindingTable.Key.START;
    boolean more = true;
    while (more && !stopped()) {
      long began = System.nanoTime();
      FindingTable.Key from = after;
      List<Finding> known =
          call(connection -> FindingTable.toRecheck(connection, now, from, MAX_AGAIN));
      again(known);
      more = known.size() == MAX_AGAIN;
      after = more ? FindingTable.Key.of(known.get(MAX_AGAIN - 1)) : after;
      renew();
      rest(began);
    }
  }

  private void again(List<Finding> known) {
    Map<Long, List<Finding>> byCampaign = new LinkedHashMap<>();
    known.forEach(
        one -> byCampaign.computeIfAbsent(one.campaign(), id -> new ArrayList<>()).add(one));
    byCampaign.forEach(
        (campaign, of) -> alone("What was found", campaign, () -> again(campaign, of)));
  }

  private void again(long campaign, List<Finding> known) {
    Set<UUID> purchases = new HashSet<>();
    Set<UUID> holds = new HashSet<>();
    known.forEach(
        one ->
            (one.kind() == FindingKind.SOLD_UNPAID ? holds : purchases)
                .add(Finding.uuid(one.subject())));
    List<Finding> still =
        call(
            connection -> {
              List<Finding> found =
                  new ArrayList<>(comparison.purchases(connection, campaign, purchases));
              found.addAll(comparison.unpaid(connection, campaign, holds));
              return found;
            });
    Set<FindingTable.Key> keys = new HashSet<>();
    still.forEach(one -> keys.add(FindingTable.Key.of(one)));
    List<Finding> mended =
        known.stream().filter(one -> !keys.contains(FindingTable.Key.of(one))).toList();
    transactor.run(options, connection -> FindingTable.forget(connection, mended));
    keep(still);
  }

  private boolean sweep(JsonObject state, Instant now, Duration budget) {
    Sweep sweep = Sweep.of(state.getJsonObject("sweep", new JsonObject()));
    long end = System.nanoTime() + budget.toNanos();
    long savedAt = System.nanoTime();
    if (!sweep.underWay() && sweep.isDue(now)) {
      sweep = sweep.begin(now);
    }
    while (sweep.underWay() && System.nanoTime() < end && !stopped()) {
      long began = System.nanoTime();
      Sweep from = sweep;
      int limit = from.holdsOf() == 0 ? PURCHASES : HOLDS;
      Sweep.Step step = call(connection -> from.next(connection, comparison, limit));
      if (!step.found().isEmpty()) {
        keep(step.found());
        act(this::renew);
      }
      sweep = step.sweep().worked((System.nanoTime() - began) / 1_000_000);
      if (System.nanoTime() - savedAt > SAVE_EVERY.toNanos()) {
        savedAt = System.nanoTime();
        if (!duty.save(state.put("sweep", sweep.json()))) {
          return false;
        }
      }
      rest(began);
    }
    duty.save(state.put("sweep", sweep.json()));
    return sweep.underWay();
  }

  /** Stores findings, and logs new ones once. */
  void keep(List<Finding> found) {
    if (found.isEmpty()) {
      return;
    }
    Map<FindingKind, Integer> fresh =
        transactor.call(options, connection -> FindingTable.save(connection, found));
    fresh.forEach(
        (kind, count) -> {
          onNew.accept(kind, count);
          Finding first =
              found.stream().filter(one -> one.kind() == kind).findFirst().orElseThrow();
          log.error(
              "Reconciliation: {} new of kind {}, the first: {} of campaign {}: {}",
              count,
              kind.label(),
              first.subject(),
              first.campaign(),
              first.detail());
        });
  }

  /**
   * Pauses campaigns that have given away goods; each finding pauses once.
   *
   * @param afterEach runs after each campaign, which may have taken a lock timeout
   */
  void act(Runnable afterEach) {
    for (Finding first : call(FindingTable::unacted)) {
      if (!refused.contains(first.campaign())) {
        if (!alone("The pause", first.campaign(), () -> stop(first))) {
          refused.add(first.campaign());
        }
        afterEach.run();
      }
    }
  }

  private void stop(Finding finding) {
    String reason = "Money and goods disagree: " + finding.detail();
    transactor.run(
        connection -> {
          campaigns.stop(
              finding.campaign(),
              reason.substring(0, Math.min(MAX_REASON, reason.length())),
              ACTOR);
          FindingTable.acted(connection, finding.campaign());
        });
  }

  private <T> T call(TxWork<T> work) {
    return transactor.call(reading, work);
  }

  private static boolean stopped() {
    return Thread.currentThread().isInterrupted();
  }

  private void rest(long beganNanos) {
    LockSupport.parkNanos(this, System.nanoTime() - beganNanos);
  }
}
