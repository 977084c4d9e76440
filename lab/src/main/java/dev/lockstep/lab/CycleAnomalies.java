package dev.lockstep.lab;

import static dev.lockstep.lab.Group.ANOMALIES;

import java.util.List;

/** Anomalies of transactions that write based on what they read, while another does the same. */
final class CycleAnomalies {
  private static final String TEST = "CREATE TABLE test (id int PRIMARY KEY, value int NOT NULL)";
  private static final String ROWS = "INSERT INTO test VALUES (1, 10), (2, 20)";
  private static final String ALL_ROWS = "SELECT id, value FROM test ORDER BY id";
  private static final String READ_BOTH =
      "SELECT id, value FROM test WHERE id IN (1, 2) ORDER BY id";
  private static final String LOCK_BOTH = READ_BOTH + " FOR UPDATE";

  private CycleAnomalies() {}

  static final List<Scenario> ALL = List.of(p4(), g2Item(), g2(), readOnly());

  private static Script.Writer test(String... sessions) {
    return Script.between(sessions).on(TEST, ROWS).begin(sessions);
  }

  private static Scenario p4() {
    String read = "SELECT value FROM test WHERE id = 1";
    String write = "UPDATE test SET value = ? WHERE id = 1";
    return new Scenario(
        "p4",
        ANOMALIES,
        "P4: lost update",
        "Two transactions each add one to a number. Can one of the additions be lost?",
        """
        At READ COMMITTED the second write waits for the first and then replaces it, with a number that
        was computed from the old value. From REPEATABLE READ on the second writer is refused with
        40001, because the row is newer than its snapshot.
        """,
        "Lock the row when you read it (FOR UPDATE), or let the UPDATE compute: value = value + 1.",
        test("A", "B")
            .run("A", read)
            .as("A read")
            .run("B", read)
            .as("B read")
            .run("A", write)
            .with(seen -> List.of((int) seen.number("A read") + 1))
            .run("B", write)
            .with(seen -> List.of((int) seen.number("B read") + 1))
            .commit("A")
            .commit("B")
            .judged(ALL_ROWS, CycleAnomalies::lost),
        test("A", "B")
            .run("A", read + " FOR UPDATE")
            .as("A read")
            .run("B", read + " FOR UPDATE")
            .as("B read")
            .run("A", write)
            .with(seen -> List.of((int) seen.number("A read") + 1))
            .commit("A")
            .run("B", write)
            .with(seen -> List.of((int) seen.number("B read") + 1))
            .commit("B")
            .judged(ALL_ROWS, CycleAnomalies::lost));
  }

  private static Finding lost(Observations seen) {
    int additions = (seen.committed("A") ? 1 : 0) + (seen.committed("B") ? 1 : 0);
    long value = Long.parseLong(seen.finalRows().get(0).get(1));
    String words = additions + " of 2 were committed, and 10 became " + value;
    return Finding.of(value != 10 + additions, words + ": one is lost.", words + ".");
  }

  private static Scenario g2Item() {
    return new Scenario(
        "g2-item",
        ANOMALIES,
        "G2-item: write skew",
        """
        Two transactions read the same two rows, and each changes a different one because of what it read.
        Can both commit, although neither would have done so after the other?
        """,
        """
        They write different rows, so nothing collides, and snapshots do not help: at REPEATABLE READ both
        commit. Only SERIALIZABLE tracks what was read, and refuses one of the two with 40001.
        """,
        "Lock what you read, not only what you write: FOR UPDATE, in the order of the ids.",
        test("A", "B")
            .run("A", READ_BOTH)
            .as("A read")
            .run("B", READ_BOTH)
            .as("B read")
            .run("A", "UPDATE test SET value = 11 WHERE id = 1")
            .run("B", "UPDATE test SET value = 21 WHERE id = 2")
            .commit("A")
            .commit("B")
            .judged(ALL_ROWS, CycleAnomalies::bothSawTheOld),
        test("A", "B")
            .run("A", LOCK_BOTH)
            .as("A read")
            .run("B", LOCK_BOTH)
            .as("B read")
            .run("A", "UPDATE test SET value = 11 WHERE id = 1")
            .commit("A")
            .run("B", "UPDATE test SET value = 21 WHERE id = 2")
            .commit("B")
            .judged(ALL_ROWS, CycleAnomalies::bothSawTheOld));
  }

  private static Finding bothSawTheOld(Observations seen) {
    boolean both = seen.committed("A") && seen.committed("B");
    boolean old = seen.contains("A read", "20") && seen.contains("B read", "10");
    return Finding.of(
        both && old,
        "Both committed, and each had read the old value of what the other changed.",
        both
            ? "Both committed, one after the other: B had read what A wrote."
            : "One committed and the other was refused.");
  }

  private static Scenario g2() {
    String thirds = "SELECT id, value FROM test WHERE value % 3 = 0";
    return new Scenario(
        "g2",
        ANOMALIES,
        "G2: write skew with a predicate",
        """
        Each of two transactions looks for multiples of three, finds none, and inserts one. Can both
        commit?
        """,
        """
        There is no row yet to lock, and the new rows do not collide. SERIALIZABLE remembers the condition
        of the query and refuses one of the two with 40001; no other level notices.
        """,
        "Lock the row that stands for the set, or let a unique index or a counter row decide.",
        test("A", "B")
            .run("A", thirds)
            .as("A read")
            .run("B", thirds)
            .as("B read")
            .run("A", "INSERT INTO test VALUES (3, 30)")
            .run("B", "INSERT INTO test VALUES (4, 42)")
            .commit("A")
            .commit("B")
            .judged(ALL_ROWS, CycleAnomalies::bothFoundNone),
        Script.between("A", "B")
            .on(TEST, ROWS, "CREATE TABLE guard (id int PRIMARY KEY, thirds int NOT NULL)")
            .on("INSERT INTO guard VALUES (1, 0)")
            .begin("A", "B")
            .run("A", "SELECT thirds FROM guard WHERE id = 1 FOR UPDATE")
            .run("B", "SELECT thirds FROM guard WHERE id = 1 FOR UPDATE")
            .run("A", thirds)
            .as("A read")
            .run("A", "INSERT INTO test VALUES (3, 30)")
            .run("A", "UPDATE guard SET thirds = thirds + 1 WHERE id = 1")
            .commit("A")
            .run("B", thirds)
            .as("B read")
            .run("B", "INSERT INTO test VALUES (4, 42)")
            .when(seen -> !seen.any("B read"), "there is one already")
            .commit("B")
            .judged(ALL_ROWS, CycleAnomalies::bothFoundNone));
  }

  private static Finding bothFoundNone(Observations seen) {
    int made = seen.finalRows().size() - 2;
    return Finding.of(
        made > 1,
        "Both found none and both inserted: there are " + made + ".",
        "There is " + made + ", inserted by the one that came first.");
  }

  private static Scenario readOnly() {
    return new Scenario(
        "read-only",
        ANOMALIES,
        "The read-only anomaly",
        """
        A reads two accounts and will empty the first because of what it saw. B pays 5 into the second. C
        only reads. Can what C sees contradict every order of A and B?
        """,
        """
        C sees B's payment and not A's change, so B comes before A. But A decided without seeing B's
        payment, so A comes before B. Without C there would be an order. SERIALIZABLE notices and
        refuses A with 40001.
        """,
        """
        Lock the rows you decide on. Reports that must be exact at SERIALIZABLE can use READ ONLY
        DEFERRABLE, which waits for a snapshot that no transaction can contradict.
        """,
        test("A", "B", "C")
            .run("A", READ_BOTH)
            .as("A read")
            .run("B", "UPDATE test SET value = value + 5 WHERE id = 2")
            .commit("B")
            .run("C", READ_BOTH)
            .as("C read")
            .commit("C")
            .run("A", "UPDATE test SET value = 0 WHERE id = 1")
            .commit("A")
            .judged(ALL_ROWS, CycleAnomalies::contradiction),
        test("A", "B", "C")
            .run("A", LOCK_BOTH)
            .as("A read")
            .run("B", "UPDATE test SET value = value + 5 WHERE id = 2")
            .run("C", READ_BOTH)
            .as("C read")
            .commit("C")
            .run("A", "UPDATE test SET value = 0 WHERE id = 1")
            .commit("A")
            .commit("B")
            .judged(ALL_ROWS, CycleAnomalies::contradiction));
  }

  private static Finding contradiction(Observations seen) {
    boolean sawPayment = seen.contains("C read", "25") && seen.contains("C read", "10");
    boolean decidedWithout = seen.contains("A read", "20");
    return Finding.of(
        sawPayment && decidedWithout && seen.committed("A") && seen.committed("B"),
        "C saw 10 and 25: B before A. A decided by 10 and 20: A before B. All committed.",
        seen.committed("A")
            ? "C saw 10 and 20, of before both: A came first, then B."
            : "A was refused: what C saw can be explained.");
  }
}
