package dev.lockstep.prove.check;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.History;
import dev.lockstep.prove.history.Op;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Money equals goods by value, campaign by campaign: what the bank kept for a purchase is what its
 * buyer has to pay for it, what was sold is what was bought, everything is settled, a key makes one
 * purchase, and nothing that was refused happened.
 */
final class PurchaseChecker implements Checker {
  /** Nothing is sold and nothing is kept; the money may have come and gone. */
  private static final Set<String> NOTHING = Set.of("failed", "expired", "refunded");

  @Override
  public String name() {
    return "purchases";
  }

  @Override
  public Map<String, History> parts(History history) {
    return Checkers.split(
        history, op -> op.args().has("campaign") ? List.of(op.args().text("campaign")) : List.of());
  }

  @Override
  public boolean droppable(String rule, Op op) {
    return false;
  }

  @Override
  public List<Violation> check(String part, History history) {
    List<Violation> found = new ArrayList<>();
    Map<String, Fields> purchases = new HashMap<>();
    history
        .of("final.purchase")
        .forEach(op -> purchases.put(op.args().text("purchase"), op.result()));
    answers(history, purchases, found);
    List<Op> stocks = history.of("final.stock").toList();
    if (stocks.isEmpty()) {
      return found;
    }
    long sold = 0;
    for (Map.Entry<String, Fields> each : purchases.entrySet()) {
      Fields purchase = each.getValue();
      String status = purchase.text("status");
      long kept = purchase.number("charged") - purchase.number("back");
      if (status.equals("completed")) {
        sold += purchase.number("quantity");
        if (kept != purchase.number("total") - purchase.number("refunded")) {
          found.add(of("money equals goods", part, "kept %d: %s".formatted(kept, purchase)));
        }
      } else if (NOTHING.contains(status)) {
        if (kept != 0) {
          found.add(of("no money without goods", part, "kept %d: %s".formatted(kept, purchase)));
        }
      } else {
        found.add(of("every purchase is settled", part, purchase.toString()));
      }
    }
    history
        .of("final.stray")
        .forEach(op -> found.add(of("no money without a purchase", part, op.toString())));
    Fields stock = stocks.get(0).result();
    if (stock.number("sold") != sold || stock.number("held") != 0) {
      found.add(of("what was sold was bought", part, "bought %d, %s".formatted(sold, stock)));
    }
    if (stock.number("sold") > stock.number("total")) {
      found.add(of("never oversold", part, stock.toString()));
    }
    return found;
  }

  private void answers(History history, Map<String, Fields> purchases, List<Violation> found) {
    history
        .of("shop.forged")
        .filter(Op::ok)
        .forEach(op -> found.add(of("a forged webhook is refused", "", op.toString())));
    Map<String, Set<String>> byKey = new HashMap<>();
    Set<String> maybe = new HashSet<>();
    for (Op op : history.of("shop.buy").toList()) {
      String key = op.args().text("key");
      if (op.result().has("purchase")) {
        byKey.computeIfAbsent(key, k -> new HashSet<>()).add(op.result().text("purchase"));
      }
      if (op.ok() || op.unknown() || op.result().has("purchase")) {
        maybe.add(key);
      }
      Fields now = purchases.get(op.result().text("purchase", ""));
      if (op.ok()
          && op.result().text("status").equals("completed")
          && !purchases.isEmpty()
          && (now == null || !Set.of("completed", "refunded").contains(now.text("status")))) {
        found.add(of("a completed purchase stays", key, op + " is " + now));
      }
    }
    byKey.forEach(
        (key, ids) -> {
          if (ids.size() > 1) {
            found.add(of("one purchase for each key", key, ids.toString()));
          }
        });
    Map<String, String> byBuyer = new HashMap<>();
    purchases.forEach(
        (id, purchase) -> {
          String other = byBuyer.putIfAbsent(purchase.text("buyer"), id);
          if (other != null) {
            found.add(of("one purchase for each key", id, "and " + other));
          }
          boolean happened = !purchase.text("status").equals("failed");
          if (happened && !maybe.contains(purchase.text("buyer"))) {
            found.add(of("no is no", id, "nobody was told of " + purchase));
          }
        });
  }

  private Violation of(String rule, String part, String why) {
    return new Violation(name(), rule, part, why, List.of());
  }
}
