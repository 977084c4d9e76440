package dev.lockstep.lab;

import static dev.lockstep.lab.Group.ANOMALIES;

import java.util.List;

/** Anomalies of a transaction that reads twice, from different snapshots. */
final class SnapshotAnomalies {
  private static final String TEST = "CREATE TABLE test (id int PRIMARY KEY, value int NOT NULL)";
  private static final String ROWS = "INSERT INTO test VALUES (1, 10), (2, 20)";
  private static final String ALL_ROWS = "SELECT id, value FROM test ORDER BY id";
  private static final String GUARD = "CREATE TABLE guard (id int PRIMARY KEY)";
  private static final String GUARD_ROW = "INSERT INTO guard VALUES (1)";
  private static final String LOCK_GUARD = "SELECT id FROM guard WHERE id = 1 FOR UPDATE";
  private static final String SHARE_BOTH =
      "SELECT id, value FROM test WHERE id IN (1, 2) ORDER BY id FOR SHARE";
  private static final String DELETE_20 = "DELETE FROM test WHERE value = 20";

  private SnapshotAnomalies() {}

  static final List<Scenario> ALL =
      List.of(pmp(), pmpWrite(), gSingle(), gSinglePredicate(), gSingleWrite());

  private static Script.Writer test() {
    return Script.between("A", "B").on(TEST, ROWS).begin("A", "B");
  }

  /** Uses a row that stands for the whole set: every writer of the set locks it first. */
  private static Script.Writer guarded() {
    return Script.between("A", "B").on(TEST, ROWS, GUARD, GUARD_ROW).begin("A", "B");
  }

  private static Scenario pmp() {
    String none = "SELECT id, value FROM test WHERE value = 30";
    String thirds = "SELECT id, value FROM test WHERE value % 3 = 0 ORDER BY id";
    return new Scenario(
        "pmp",
        ANOMALIES,
        "PMP: phantom between two reads",
        "A transaction looks twice for rows of a kind. Can one appear in between?",
        """
        At READ COMMITTED each statement has its own snapshot, so the second query sees what was committed
        after the first. From REPEATABLE READ on, the whole transaction has one.
        """,
        """
        Give the set a row that stands for it (a pool, a campaign) and lock that first: a row that does
        not exist yet cannot be locked, but its parent can.
        """,
        test()
            .run("A", none)
            .as("before")
            .run("B", "INSERT INTO test VALUES (3, 30)")
            .commit("B")
            .run("A", thirds)
            .as("after")
            .commit("A")
            .judged(ALL_ROWS, SnapshotAnomalies::phantom),
        guarded()
            .run("A", LOCK_GUARD)
            .run("A", none)
            .as("before")
            .run("B", LOCK_GUARD)
            .run("B", "INSERT INTO test VALUES (3, 30)")
            .run("A", thirds)
            .as("after")
            .commit("A")
            .commit("B")
            .judged(ALL_ROWS, SnapshotAnomalies::phantom));
  }

  private static Finding phantom(Observations seen) {
    int before = seen.rows("before").size();
    int after = seen.rows("after").size();
    return Finding.of(
        before != after,
        "A found " + before + " rows, then " + after + ": one appeared.",
        "A found " + before + " rows both times.");
  }

  private static Scenario pmpWrite() {
    return new Scenario(
        "pmp-write",
        ANOMALIES,
        "PMP: the row that DELETE missed",
        "A DELETE waits for a row. When it has run, can a row that it names still be there?",
        """
        At READ COMMITTED the DELETE finds its rows in the snapshot of its start, waits for the row that A
        changes, and checks it again: it is 30 now and no longer matches. The row that A changed to 20 was
        not among those found. So neither is deleted. Above READ COMMITTED the DELETE is refused with
        40001.
        """,
        "Lock the row that stands for the set first: the DELETE then begins, and looks, after the"
            + " wait.",
        test()
            .run("A", "UPDATE test SET value = value + 10")
            .run("B", DELETE_20)
            .as("delete")
            .commit("A")
            .run("B", "SELECT id, value FROM test WHERE value = 20")
            .as("left")
            .commit("B")
            .judged(ALL_ROWS, SnapshotAnomalies::missed),
        guarded()
            .run("A", LOCK_GUARD)
            .run("A", "UPDATE test SET value = value + 10")
            .run("B", LOCK_GUARD)
            .commit("A")
            .run("B", DELETE_20)
            .as("delete")
            .run("B", "SELECT id, value FROM test WHERE value = 20")
            .as("left")
            .commit("B")
            .judged(ALL_ROWS, SnapshotAnomalies::missed));
  }

  private static Finding missed(Observations seen) {
    int left = seen.rows("left").size();
    return Finding.of(
        seen.committed("B") && left > 0,
        "B deleted " + seen.changed("delete") + " rows of value 20, and then saw " + left + ".",
        seen.committed("B")
            ? "B deleted " + seen.changed("delete") + " rows of value 20, and no such row was left."
            : "B was refused and deleted nothing.");
  }

  private static Scenario gSingle() {
    String first = "SELECT value FROM test WHERE id = 1";
    String second = "SELECT value FROM test WHERE id = 2";
    return new Scenario(
        "g-single",
        ANOMALIES,
        "G-single: read skew",
        """
        Two rows always add up to 30. Can a transaction that reads them one at a time find another sum?
        """,
        """
        At READ COMMITTED the second read has a newer snapshot than the first. From REPEATABLE READ on,
        both reads have the same.
        """,
        """
        Read both in one statement, or lock what must not change meanwhile. Lockstep's stock check reads
        in one REPEATABLE READ snapshot.
        """,
        test()
            .run("A", first)
            .as("first")
            .run("B", "UPDATE test SET value = 12 WHERE id = 1")
            .run("B", "UPDATE test SET value = 18 WHERE id = 2")
            .commit("B")
            .run("A", second)
            .as("second")
            .commit("A")
            .judged(ALL_ROWS, SnapshotAnomalies::skew),
        test()
            .run("A", SHARE_BOTH)
            .run("A", first)
            .as("first")
            .run("B", "UPDATE test SET value = 12 WHERE id = 1")
            .run("B", "UPDATE test SET value = 18 WHERE id = 2")
            .run("A", second)
            .as("second")
            .commit("A")
            .commit("B")
            .judged(ALL_ROWS, SnapshotAnomalies::skew));
  }

  private static Finding skew(Observations seen) {
    long sum = seen.number("first") + seen.number("second");
    return Finding.of(
        sum != 30,
        "A read " + seen.text("first") + " and " + seen.text("second") + ", which is " + sum + ".",
        "A read " + seen.text("first") + " and " + seen.text("second") + ", which is 30.");
  }

  private static Scenario gSinglePredicate() {
    String fives = "SELECT id, value FROM test WHERE value % 5 = 0 ORDER BY id";
    String thirds = "SELECT id, value FROM test WHERE value % 3 = 0 ORDER BY id";
    return new Scenario(
        "g-single-predicate",
        ANOMALIES,
        "G-single with predicates",
        """
        A transaction looks for multiples of five, then for multiples of three. Can the same row be
        found by both, once as 10 and once as 12?
        """,
        "As in read skew, only that the reads name a condition instead of rows.",
        "Lock the rows of the first look before the second, or look at both in one statement.",
        test()
            .run("A", fives)
            .as("fives")
            .run("B", "UPDATE test SET value = 12 WHERE value = 10")
            .commit("B")
            .run("A", thirds)
            .as("thirds")
            .commit("A")
            .judged(ALL_ROWS, SnapshotAnomalies::twoFaces),
        test()
            .run("A", SHARE_BOTH)
            .run("A", fives)
            .as("fives")
            .run("B", "UPDATE test SET value = 12 WHERE value = 10")
            .run("A", thirds)
            .as("thirds")
            .commit("A")
            .commit("B")
            .judged(ALL_ROWS, SnapshotAnomalies::twoFaces));
  }

  private static Finding twoFaces(Observations seen) {
    return Finding.of(
        seen.contains("fives", "10") && seen.contains("thirds", "12"),
        "A met row 1 as 10 and, in the same transaction, as 12.",
        "A met row 1 with one value only.");
  }

  private static Scenario gSingleWrite() {
    String first = "SELECT value FROM test WHERE id = 1";
    return new Scenario(
        "g-single-write",
        ANOMALIES,
        "G-single with a write predicate",
        """
        A transaction has read row 1 as it was before B. Can its DELETE act on row 2 as it is after B?
        """,
        """
        At READ COMMITTED the DELETE has its own snapshot, which already shows B's change. From REPEATABLE
        READ on, it meets a row that was changed after the snapshot, and is refused with 40001 rather than
        act on something the transaction has not seen.
        """,
        "Lock what you read and will act upon, in one go, before deciding anything.",
        test()
            .run("A", first)
            .as("read")
            .run("B", "UPDATE test SET value = 12 WHERE id = 1")
            .run("B", "UPDATE test SET value = 18 WHERE id = 2")
            .commit("B")
            .run("A", DELETE_20)
            .as("delete")
            .commit("A")
            .judged(ALL_ROWS, SnapshotAnomalies::actedOnTheNew),
        test()
            .run("A", "SELECT id, value FROM test WHERE id IN (1, 2) ORDER BY id FOR UPDATE")
            .run("A", first)
            .as("read")
            .run("B", "UPDATE test SET value = 12 WHERE id = 1")
            .run("B", "UPDATE test SET value = 18 WHERE id = 2")
            .run("A", DELETE_20)
            .as("delete")
            .commit("A")
            .commit("B")
            .judged(ALL_ROWS, SnapshotAnomalies::actedOnTheNew));
  }

  private static Finding actedOnTheNew(Observations seen) {
    boolean skewed =
        seen.committed("A") && seen.number("read") == 10 && seen.changed("delete") == 0;
    return Finding.of(
        skewed,
        "A read row 1 as 10, of before B; its DELETE found no 20, as after B.",
        seen.committed("A")
            ? "A read row 1 as 10, and its DELETE found row 2 as 20."
            : "A was refused and deleted nothing.");
  }
}
