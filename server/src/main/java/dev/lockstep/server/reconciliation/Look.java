package dev.lockstep.server.reconciliation;

import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.server.duty.DutyState;
import dev.lockstep.server.reconciliation.Changes.ChangedPool;
import dev.lockstep.server.reconciliation.Changes.Portion;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import dev.lockstep.tx.TxWork;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One look at money and goods: first what has changed since the last one, what waits for too long
 * and what was found before; then as many slices of the whole as there is time for. After each
 * slice it rests for as long as that took, so that those who sell have at least as much.
 *
 * <p>One node at a time looks, on one connection at a time, in transactions of some thousand index
 * look-ups. Blocks; run by one thread.
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
  private final Campaigns campaigns;
  private final Comparison comparison;
  private final DutyState duty;
  private final BiConsumer<Kind, Integer> onNew;
  private long renewedAt;

  /**
   * @param onNew hears how many of a kind were found that were not known
   */
  Look(
      Transactor transactor,
      Campaigns campaigns,
      Comparison comparison,
      DutyState duty,
      BiConsumer<Kind, Integer> onNew) {
    this.transactor = transactor;
    this.options = transactor.defaults().withLabel("reconciliation").withPointLookups();
    this.campaigns = campaigns;
    this.comparison = comparison;
    this.duty = duty;
    this.onNew = onNew;
  }

  /**
   * Looks.
   *
   * @param budget how long slices of the whole are gone on with
   * @return whether the whole is still being gone through; empty: another node looks
   */
  Optional<Boolean> run(Duration budget) {
    Optional<JsonObject> taken = duty.take();
    if (taken.isEmpty()) {
      return Optional.empty();
    }
    try {
      renewedAt = System.nanoTime();
      Instant now = call(Look::now);
      changes();
      keep(call(connection -> comparison.open(connection, MAX_AGAIN)));
      again(now);
      act();
      JsonObject state = taken.get().put("checkedAt", now.toString());
      return Optional.of(sweep(state, now, budget));
    } finally {
      duty.leave();
    }
  }

  private void changes() {
    for (ChangedPool pool : call(Changes::pools)) {
      // Behind: the server has come back without what it had told. What came since is in the sweep.
      long after = Math.min(pool.seen(), pool.seq());
      boolean more = after < pool.seq();
      while (more && !stopped()) {
        long from = after;
        long began = System.nanoTime();
        Portion portion = call(connection -> Changes.next(connection, pool, from, CHANGES));
        List<UUID> holds = List.copyOf(portion.holds());
        keep(call(connection -> comparison.holds(connection, pool.campaign(), holds)));
        after = portion.last();
        save(pool, after);
        renew();
        more = portion.rows() == CHANGES;
        rest(began);
      }
      if (pool.seen() > pool.seq()) {
        save(pool, pool.seq());
      }
    }
  }

  /** A node that is frozen does not keep others from looking for long. */
  private void renew() {
    if (System.nanoTime() - renewedAt > SAVE_EVERY.toNanos()) {
      renewedAt = System.nanoTime();
      duty.take();
    }
  }

  private void save(ChangedPool pool, long seq) {
    transactor.run(options, connection -> Changes.save(connection, pool, seq));
  }

  /** What was found before, all of it: what agrees by now is forgotten. */
  private void again(Instant now) {
    boolean more = true;
    while (more && !stopped()) {
      long began = System.nanoTime();
      List<Finding> known =
          call(connection -> FindingTable.toLookAtAgain(connection, now, MAX_AGAIN));
      again(known);
      more = known.size() == MAX_AGAIN;
      renew();
      rest(began);
    }
  }

  private void again(List<Finding> known) {
    Map<Long, List<Finding>> byCampaign = new LinkedHashMap<>();
    known.forEach(
        one -> byCampaign.computeIfAbsent(one.campaign(), id -> new ArrayList<>()).add(one));
    for (Map.Entry<Long, List<Finding>> of : byCampaign.entrySet()) {
      Set<UUID> purchases = new HashSet<>();
      Set<UUID> holds = new HashSet<>();
      of.getValue()
          .forEach(
              one ->
                  (one.kind() == Kind.SOLD_UNPAID ? holds : purchases)
                      .add(Finding.uuid(one.subject())));
      List<Finding> still =
          call(
              connection -> {
                List<Finding> found =
                    new ArrayList<>(comparison.purchases(connection, of.getKey(), purchases));
                found.addAll(comparison.unpaid(connection, of.getKey(), holds));
                return found;
              });
      Set<String> keys = new HashSet<>();
      still.forEach(one -> keys.add(one.kind().label() + " " + one.subject()));
      List<Finding> mended =
          of.getValue().stream()
              .filter(one -> !keys.contains(one.kind().label() + " " + one.subject()))
              .toList();
      transactor.run(options, connection -> FindingTable.forget(connection, mended));
      keep(still);
    }
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
        act();
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

  /** Keeps what was found, and says once what is new. */
  void keep(List<Finding> found) {
    if (found.isEmpty()) {
      return;
    }
    Map<Kind, Integer> fresh =
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

  /** Stops campaigns that have given out goods without money; each finding stops it once. */
  void act() {
    Map<Long, Finding> first = new LinkedHashMap<>();
    call(FindingTable::unacted).forEach(one -> first.putIfAbsent(one.campaign(), one));
    for (Map.Entry<Long, Finding> of : first.entrySet()) {
      String reason = "Money and goods disagree: " + of.getValue().detail();
      transactor.run(
          connection -> {
            campaigns.stop(
                of.getKey(), reason.substring(0, Math.min(MAX_REASON, reason.length())), ACTOR);
            FindingTable.acted(connection, of.getKey());
          });
    }
  }

  private <T> T call(TxWork<T> work) {
    return transactor.call(options, work);
  }

  private static Instant now(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Instant> now =
        trip.query("SELECT now()", row -> row.getObject(1, OffsetDateTime.class).toInstant());
    trip.send();
    return now.list().get(0);
  }

  private static boolean stopped() {
    return Thread.currentThread().isInterrupted();
  }

  private void rest(long beganNanos) {
    LockSupport.parkNanos(this, System.nanoTime() - beganNanos);
  }
}
