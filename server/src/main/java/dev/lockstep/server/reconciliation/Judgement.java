package dev.lockstep.server.reconciliation;

import dev.lockstep.hold.PoolId;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.campaign.Item;
import dev.lockstep.server.purchase.PurchaseStatus;
import dev.lockstep.server.reconciliation.PurchaseFacts.Book;
import dev.lockstep.server.reconciliation.PurchaseFacts.Goods;
import dev.lockstep.server.reconciliation.PurchaseFacts.Line;
import dev.lockstep.server.reconciliation.PurchaseFacts.Unit;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Judges a purchase from one snapshot of everything known about it. A pure function. A purchase
 * changes in one transaction with its hold and its book, so only what waits for the provider needs
 * patience.
 */
final class Judgement {
  private final Duration patience;

  /**
   * @param patience how long something may be in progress before it is wrong
   */
  Judgement(Duration patience) {
    this.patience = patience;
  }

  /**
   * @param campaign what it was bought from; if empty, goods are not valued
   */
  List<Finding> of(PurchaseFacts facts, Optional<Campaign> campaign) {
    List<Finding> found = new ArrayList<>();
    if (facts.paidAt() == null) {
      unpaid(facts, found);
    } else {
      paid(facts, facts.paidAt(), campaign, found);
    }
    boolean waits = facts.status().isOpen() || facts.status() == PurchaseStatus.REFUNDING;
    String setAside = facts.setAside();
    if (waits && setAside != null) {
      add(found, FindingKind.SET_ASIDE, facts, facts.changedAt(), setAside);
    }
    booked(facts, found);
    return found;
  }

  private void unpaid(PurchaseFacts facts, List<Finding> found) {
    if (facts.status().isOpen() && isLong(facts, facts.deadline())) {
      add(
          found,
          FindingKind.UNSETTLED,
          facts,
          facts.deadline(),
          "the provider has not reported the outcome");
    }
  }

  private void paid(
      PurchaseFacts facts, Instant paidAt, Optional<Campaign> campaign, List<Finding> found) {
    boolean sold = facts.goods().map(Goods::sold).orElse(false);
    switch (facts.status()) {
      case COMPLETED -> {
        if (!sold) {
          add(
              found,
              FindingKind.PAID_NOT_SOLD,
              facts,
              paidAt,
              "completed, but its hold is not sold");
        } else {
          campaign.ifPresent(of -> valued(facts, of, paidAt, found));
          if (facts.shared()) {
            add(
                found,
                FindingKind.SHARED_HOLD,
                facts,
                paidAt,
                "another purchase has the same hold");
          }
        }
      }
      case FAILED, EXPIRED ->
          add(
              found,
              FindingKind.PAID_AND_ENDED,
              facts,
              paidAt,
              "paid, but ended without goods or refund");
      case REFUNDING -> {
        if (isLong(facts, facts.changedAt())) {
          add(found, FindingKind.REFUND_NOT_DONE, facts, paidAt, "the refund is not done");
        }
      }
      case REFUNDED -> {
        if (sold && !facts.drawn()) {
          add(found, FindingKind.REFUNDED_NOT_RETURNED, facts, paidAt, "refunded, but still sold");
        }
      }
      default -> {
        if (isLong(facts, facts.changedAt())) {
          add(found, FindingKind.PAID_LATE, facts, paidAt, "paid late, neither sold nor refunded");
        }
      }
    }
  }

  /** Compares what is sold with what was paid: value first, then each line and position. */
  private static void valued(
      PurchaseFacts facts, Campaign campaign, Instant paidAt, List<Finding> found) {
    Goods goods = facts.goods().orElseThrow();
    long value =
        goods.lines().stream().mapToLong(line -> line.quantity() * price(campaign, line)).sum();
    String worth =
        "paid %d %s, but the goods sold are worth %d"
            .formatted(facts.forGoods(), facts.currency(), value);
    if (value > facts.forGoods()) {
      add(found, FindingKind.MORE_THAN_PAID, facts, paidAt, worth);
    } else if (value < facts.forGoods()) {
      add(found, FindingKind.LESS_THAN_PAID, facts, paidAt, worth);
    } else {
      different(facts, goods, campaign)
          .ifPresent(how -> add(found, FindingKind.OTHER_THAN_PAID, facts, paidAt, how));
    }
  }

  private static Optional<String> different(PurchaseFacts facts, Goods goods, Campaign campaign) {
    try {
      return sameLines(facts, goods, campaign)
          ? Optional.empty()
          : Optional.of(
              "the goods sold have the right value, but are not those that were paid for");
    } catch (RuntimeException e) {
      // Only manual writes produce such items; whether the goods are right is unknown.
      return Optional.of(
          "the goods sold have the right value, but the purchase's items are unreadable");
    }
  }

  private static long price(Campaign campaign, Line line) {
    return knows(campaign, line.pool()) ? campaign.item(new PoolId(line.pool())).price() : 0;
  }

  private static boolean knows(Campaign campaign, long pool) {
    return pool >= 1 && pool <= campaign.items().size();
  }

  private static boolean sameLines(PurchaseFacts facts, Goods goods, Campaign campaign) {
    JsonArray items = new JsonArray(facts.items());
    if (items.isEmpty()) {
      return true;
    }
    Map<Long, Integer> wanted = new TreeMap<>();
    Set<Unit> wantedUnits = new HashSet<>();
    for (Object one : items) {
      JsonObject line = (JsonObject) one;
      String code = String.valueOf(line.getValue(line.containsKey("sku") ? "sku" : "layer"));
      Optional<Item> item = campaign.item(code);
      if (item.isEmpty()) {
        return false;
      }
      long pool = item.get().pool().value();
      wanted.merge(pool, line.getInteger("quantity", 0), Integer::sum);
      for (Object position : line.getJsonArray("positions", new JsonArray())) {
        // Columns count from 1, units from 0.
        wantedUnits.add(new Unit(pool, ((JsonObject) position).getInteger("column") - 1));
      }
    }
    Map<Long, Integer> got = new TreeMap<>();
    goods.lines().forEach(line -> got.merge(line.pool(), line.quantity(), Integer::sum));
    return wanted.equals(got)
        && (wantedUnits.isEmpty() || wantedUnits.equals(new HashSet<>(goods.units())));
  }

  /** A payment is posted with the step that learns of it; earlier payments are not in the book. */
  private static void booked(PurchaseFacts facts, List<Finding> found) {
    Book book = facts.book();
    Instant since = book.since();
    if (since == null) {
      return;
    }
    Instant paidAt = facts.paidAt();
    Long posted = book.posted();
    if (paidAt == null) {
      if (posted != null) {
        add(
            found,
            FindingKind.BOOKS_DIFFER,
            facts,
            facts.changedAt(),
            "the book has %d for it, but it is not paid".formatted(posted));
      }
    } else if (!paidAt.isBefore(since)
        && (posted == null || posted != facts.amount() || !book.rightWay())) {
      add(
          found,
          FindingKind.BOOKS_DIFFER,
          facts,
          paidAt,
          posted == null
              ? "paid, but the book does not have it"
              : "paid %d, but the book has %d%s"
                  .formatted(
                      facts.amount(), posted, book.rightWay() ? "" : " in the wrong direction"));
    }
  }

  /** A refund, or a part, is posted with the step that completes it. */
  static Optional<Finding> refundBooked(PurchaseFacts facts, Optional<Long> posted) {
    Instant since = facts.book().since();
    Instant paidAt = facts.paidAt();
    if (since == null
        || paidAt == null
        || paidAt.isBefore(since)
        || posted.orElse(0L) == facts.refunded()) {
      return Optional.empty();
    }
    return Optional.of(
        Finding.of(
            FindingKind.BOOKS_DIFFER,
            facts,
            facts.changedAt(),
            "refunded %d, but the book shows %d refunded"
                .formatted(facts.refunded(), posted.orElse(0L))));
  }

  private boolean isLong(PurchaseFacts facts, Instant since) {
    return since.plus(patience).isBefore(facts.now());
  }

  private static void add(
      List<Finding> found, FindingKind kind, PurchaseFacts facts, Instant since, String detail) {
    found.add(Finding.of(kind, facts, since, detail));
  }
}
