package dev.lockstep.lab;

import static dev.lockstep.lab.Group.SALES;

import dev.lockstep.fault.SqlFault;
import java.util.List;

/** What goes wrong when many buyers want the same few things. */
final class SaleStories {
  private static final String POOL =
      """
      CREATE TABLE pool (id int PRIMARY KEY, total int NOT NULL, held int NOT NULL,
        CHECK (held >= 0 AND held <= total))""";
  private static final String LOCK_POOL =
      "SELECT total - held AS free FROM pool WHERE id = 1 FOR UPDATE";
  private static final String TAKE =
      "UPDATE pool SET held = held + 1 WHERE id = 1 AND held < total";

  private SaleStories() {}

  static final List<Scenario> ALL =
      List.of(lastUnit(), limitTwoTabs(), bundleDeadlock(), soldOutTooSoon());

  private static Scenario lastUnit() {
    String read = "SELECT stock FROM item WHERE id = 1";
    String write = "UPDATE item SET stock = ? WHERE id = 1";
    String finals =
        "SELECT (SELECT stock FROM item WHERE id = 1) AS stock, (SELECT count(*) FROM sale) AS"
            + " sales";
    return new Scenario(
        "last-unit",
        SALES,
        "The last unit, sold twice",
        "One is left, and Ann and Bob both press Buy. Can both get it?",
        """
        Both read stock 1, both decide to sell, both write 0. At READ COMMITTED the second write only
        waits. From REPEATABLE READ on, it is refused with 40001; the claim that SERIALIZABLE does not
        help is not true of PostgreSQL. But a refusal is not an answer: the sale must be retried, and on a
        hot row almost every attempt then fails.
        """,
        """
        Lock the row that counts, decide while it is locked, and write with a guard that a CHECK backs.
        The second buyer waits a moment, then is told the truth: sold out.
        """,
        Script.between("Ann", "Bob")
            .on("CREATE TABLE item (id int PRIMARY KEY, stock int NOT NULL)")
            .on("INSERT INTO item VALUES (1, 1)", "CREATE TABLE sale (buyer text NOT NULL)")
            .begin("Ann", "Bob")
            .run("Ann", read)
            .as("Ann read")
            .run("Bob", read)
            .as("Bob read")
            .run("Ann", write)
            .with(seen -> List.of((int) seen.number("Ann read") - 1))
            .when(seen -> seen.number("Ann read") > 0, "sold out")
            .note("one is left: sell it")
            .run("Ann", "INSERT INTO sale VALUES ('Ann')")
            .run("Bob", write)
            .with(seen -> List.of((int) seen.number("Bob read") - 1))
            .when(seen -> seen.number("Bob read") > 0, "sold out")
            .note("one is left: sell it")
            .commit("Ann")
            .run("Bob", "INSERT INTO sale VALUES ('Bob')")
            .commit("Bob")
            .judged(finals, seen -> oversold(seen, 1)),
        Script.between("Ann", "Bob")
            .on(
                POOL,
                "INSERT INTO pool VALUES (1, 1, 0)",
                "CREATE TABLE sale (buyer text NOT NULL)")
            .begin("Ann", "Bob")
            .run("Ann", LOCK_POOL)
            .as("Ann read")
            .run("Bob", LOCK_POOL)
            .as("Bob read")
            .run("Ann", TAKE)
            .when(seen -> seen.number("Ann read") > 0, "sold out")
            .note("one is free: hold it")
            .run("Ann", "INSERT INTO sale VALUES ('Ann')")
            .commit("Ann")
            .run("Bob", TAKE)
            .as("Bob took")
            .when(seen -> seen.number("Bob read") > 0, "sold out, and that is the truth")
            .run("Bob", "INSERT INTO sale VALUES ('Bob')")
            .when(seen -> seen.any("Bob took"), "nothing to sell")
            .commit("Bob")
            .judged(
                "SELECT (SELECT total - held FROM pool WHERE id = 1) AS free,"
                    + " (SELECT count(*) FROM sale) AS sales",
                seen -> oversold(seen, 1)));
  }

  private static Finding oversold(Observations seen, int total) {
    long sales = seen.finalNumber(1);
    return Finding.of(
        sales > total,
        sales + " sales of " + total + " unit: somebody has paid for nothing.",
        sales + " sale of " + total + " unit.");
  }

  private static Scenario limitTwoTabs() {
    String count = "SELECT count(*) FROM purchase WHERE buyer = 'Ann'";
    String insert = "INSERT INTO purchase VALUES ('Ann')";
    String take =
        """
        INSERT INTO quota VALUES ('Ann', 1) ON CONFLICT (buyer) DO UPDATE SET used = quota.used + 1
        WHERE quota.used + 1 <= 2 RETURNING used""";
    return new Scenario(
        "limit-two-tabs",
        SALES,
        "A limit, passed with two tabs",
        "Two a buyer, and Ann has one. She presses Buy in two tabs at once. Can she have three?",
        """
        Both tabs count one purchase, so both may buy another. They insert different rows, so nothing
        collides: write skew. Locks on the counted rows would not help, because the new rows do not exist
        yet. Only SERIALIZABLE notices, with 40001.
        """,
        """
        One row per buyer with the number, changed by a guarded upsert: the second tab waits for the
        first, then the guard is false and no row comes back.
        """,
        Script.between("Tab 1", "Tab 2")
            .on(
                "CREATE TABLE purchase (buyer text NOT NULL)",
                "INSERT INTO purchase VALUES ('Ann')")
            .begin("Tab 1", "Tab 2")
            .run("Tab 1", count)
            .as("first")
            .run("Tab 2", count)
            .as("second")
            .run("Tab 1", insert)
            .when(seen -> seen.number("first") < 2, "limit reached")
            .note("one so far: another is allowed")
            .run("Tab 2", insert)
            .when(seen -> seen.number("second") < 2, "limit reached")
            .note("one so far: another is allowed")
            .commit("Tab 1")
            .commit("Tab 2")
            .judged("SELECT count(*) FROM purchase WHERE buyer = 'Ann'", SaleStories::overLimit),
        Script.between("Tab 1", "Tab 2")
            .on("CREATE TABLE quota (buyer text PRIMARY KEY, used int NOT NULL)")
            .on("INSERT INTO quota VALUES ('Ann', 1)")
            .on(
                "CREATE TABLE purchase (buyer text NOT NULL)",
                "INSERT INTO purchase VALUES ('Ann')")
            .begin("Tab 1", "Tab 2")
            .run("Tab 1", take)
            .as("first")
            .run("Tab 2", take)
            .as("second")
            .run("Tab 1", insert)
            .when(seen -> seen.any("first"), "limit reached")
            .commit("Tab 1")
            .run("Tab 2", insert)
            .when(seen -> seen.any("second"), "limit reached")
            .commit("Tab 2")
            .judged("SELECT count(*) FROM purchase WHERE buyer = 'Ann'", SaleStories::overLimit));
  }

  private static Finding overLimit(Observations seen) {
    long bought = seen.finalNumber(0);
    return Finding.of(
        bought > 2, "Ann has " + bought + " of at most 2.", "Ann has " + bought + " of at most 2.");
  }

  private static Scenario bundleDeadlock() {
    String one = "UPDATE item SET stock = stock - 1 WHERE id = 1";
    String two = "UPDATE item SET stock = stock - 1 WHERE id = 2";
    String both = "SELECT id FROM item WHERE id IN (1, 2) ORDER BY id FOR UPDATE";
    String finals = "SELECT id, stock FROM item ORDER BY id";
    return new Scenario(
        "bundle-deadlock",
        SALES,
        "Two bundles, a deadlock",
        "Ann's cart holds shirt and pin, Bob's pin and shirt. Can they wait for each other for"
            + " ever?",
        """
        Each has locked what the other needs next. A session that has waited for deadlock_timeout (1 s by
        default, 0.1 s here) looks for a cycle of waits and, if it finds one, is aborted with 40P01. No
        isolation level changes that.
        """,
        "Lock everything a cart needs in one order, by id. Then one simply waits for the other.",
        Script.between("Ann", "Bob")
            .on("CREATE TABLE item (id int PRIMARY KEY, stock int NOT NULL)")
            .on("INSERT INTO item VALUES (1, 5), (2, 5)")
            .begin("Ann", "Bob")
            .run("Ann", one)
            .run("Bob", two)
            .run("Ann", two)
            .run("Bob", one)
            .commit("Ann")
            .commit("Bob")
            .judged(finals, SaleStories::deadlock),
        Script.between("Ann", "Bob")
            .on("CREATE TABLE item (id int PRIMARY KEY, stock int NOT NULL)")
            .on("INSERT INTO item VALUES (1, 5), (2, 5)")
            .begin("Ann", "Bob")
            .run("Ann", both)
            .run("Bob", both)
            .run("Ann", one)
            .run("Ann", two)
            .commit("Ann")
            .run("Bob", two)
            .run("Bob", one)
            .commit("Bob")
            .judged(finals, SaleStories::deadlock));
  }

  private static Finding deadlock(Observations seen) {
    List<String> victims = seen.victimsOf(SqlFault.DEADLOCK);
    return Finding.of(
        !victims.isEmpty(),
        "They waited for each other, until PostgreSQL aborted "
            + String.join(" and ", victims)
            + ".",
        "No session waited in a cycle.");
  }

  private static Scenario soldOutTooSoon() {
    String skip =
        "SELECT id FROM unit WHERE state = 'free' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED";
    String hold = "UPDATE unit SET state = 'held' WHERE id = ?";
    String finals =
        "SELECT count(*) FILTER (WHERE state = 'free') AS free, count(*) AS total FROM unit";
    return new Scenario(
        "sold-out-too-soon",
        SALES,
        "Sold out, said too soon",
        """
        Ann is buying the last one, and her card will be declined. Bob asks in the meantime. Can he be
        told “sold out” although one is about to be free?
        """,
        """
        SKIP LOCKED also skips rows that are only locked. An empty result means “none that is unlocked
        right now”, which is not “sold out”. No isolation level changes that.
        """,
        """
        Say “sold out” only from the pool's own count, under its lock: Bob waits until Ann's sale is
        decided.
        """,
        Script.between("Ann", "Bob")
            .on("CREATE TABLE unit (id int PRIMARY KEY, state text NOT NULL)")
            .on("INSERT INTO unit VALUES (1, 'free')")
            .begin("Ann", "Bob")
            .run("Ann", skip)
            .as("Ann found")
            .run("Ann", hold)
            .with(seen -> List.of((int) seen.number("Ann found")))
            .run("Bob", skip)
            .as("Bob found")
            .run("Bob", hold)
            .as("Bob took")
            .with(seen -> List.of((int) seen.number("Bob found")))
            .when(seen -> seen.any("Bob found"), "Bob is told: sold out")
            .commit("Bob")
            .rollback("Ann")
            .note("the card was declined")
            .judged(finals, SaleStories::turnedAway),
        Script.between("Ann", "Bob")
            .on(POOL, "INSERT INTO pool VALUES (1, 1, 0)")
            .on("CREATE TABLE unit (id int PRIMARY KEY, state text NOT NULL)")
            .on("INSERT INTO unit VALUES (1, 'free')")
            .begin("Ann", "Bob")
            .run("Ann", LOCK_POOL)
            .as("Ann found")
            .run("Ann", TAKE)
            .run("Bob", LOCK_POOL)
            .as("Bob found")
            .rollback("Ann")
            .note("the card was declined")
            .run("Bob", TAKE)
            .when(seen -> seen.number("Bob found") > 0, "Bob is told: sold out")
            .run("Bob", "UPDATE unit SET state = 'held' WHERE id = 1")
            .as("Bob took")
            .when(seen -> seen.number("Bob found") > 0, "Bob is told: sold out")
            .commit("Bob")
            .judged(finals, SaleStories::turnedAway));
  }

  private static Finding turnedAway(Observations seen) {
    boolean told = !seen.any("Bob took");
    long free = seen.finalNumber(0);
    return Finding.of(
        told && free > 0,
        "Bob was told “sold out”, and " + free + " is free.",
        told ? "Bob got none, and none is free." : "Bob got the one that Ann gave back.");
  }
}
