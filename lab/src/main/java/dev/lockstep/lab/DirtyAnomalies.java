package dev.lockstep.lab;

import static dev.lockstep.lab.Group.ANOMALIES;

import java.util.List;

/** Anomalies that PostgreSQL prevents at every level. */
final class DirtyAnomalies {
  private static final String TEST = "CREATE TABLE test (id int PRIMARY KEY, value int NOT NULL)";
  private static final String ROWS = "INSERT INTO test VALUES (1, 10), (2, 20)";
  private static final String ALL_ROWS = "SELECT id, value FROM test ORDER BY id";
  private static final String LOCK_BOTH =
      "SELECT id, value FROM test WHERE id IN (1, 2) ORDER BY id FOR UPDATE";

  private DirtyAnomalies() {}

  static final List<Scenario> ALL = List.of(g0(), g1a(), g1b(), g1c(), otv());

  private static Script.Writer test(String... sessions) {
    return Script.between(sessions).on(TEST, ROWS).begin(sessions);
  }

  private static Scenario g0() {
    return new Scenario(
        "g0",
        ANOMALIES,
        "G0: dirty write",
        """
        Two transactions write the same two rows. Can one row end with the value of the first and the
        other with the value of the second?
        """,
        """
        At every level, the second writer of a row waits until the first transaction has ended. READ
        COMMITTED then writes over what was committed; above it, the second writer is refused with 40001,
        since its snapshot is older than the row.
        """,
        """
        Nothing is needed. Lockstep locks both rows first, in the order of their ids, so that the wait
        comes before any work is done.
        """,
        test("A", "B")
            .run("A", "UPDATE test SET value = 11 WHERE id = 1")
            .run("B", "UPDATE test SET value = 12 WHERE id = 1")
            .run("A", "UPDATE test SET value = 21 WHERE id = 2")
            .commit("A")
            .run("B", "UPDATE test SET value = 22 WHERE id = 2")
            .commit("B")
            .judged(ALL_ROWS, DirtyAnomalies::mixedWrites),
        test("A", "B")
            .run("A", LOCK_BOTH)
            .run("B", LOCK_BOTH)
            .run("A", "UPDATE test SET value = 11 WHERE id = 1")
            .run("A", "UPDATE test SET value = 21 WHERE id = 2")
            .commit("A")
            .run("B", "UPDATE test SET value = 12 WHERE id = 1")
            .run("B", "UPDATE test SET value = 22 WHERE id = 2")
            .commit("B")
            .judged(ALL_ROWS, DirtyAnomalies::mixedWrites));
  }

  private static Finding mixedWrites(Observations seen) {
    String first = seen.finalRows().get(0).get(1);
    String second = seen.finalRows().get(1).get(1);
    boolean ofA = first.equals("11") && second.equals("21");
    boolean ofB = first.equals("12") && second.equals("22");
    String values = "The rows ended as " + first + " and " + second;
    return Finding.of(
        !ofA && !ofB, values + ", one of each.", values + ", both of " + (ofA ? "A" : "B") + ".");
  }

  private static Scenario g1a() {
    return new Scenario(
        "g1a",
        ANOMALIES,
        "G1a: aborted read",
        "Can a transaction see a value that was never committed, because its writer rolled back?",
        """
        A reader sees the newest committed version of a row, never one that is still being written.
        PostgreSQL accepts READ UNCOMMITTED and treats it as READ COMMITTED.
        """,
        """
        Nothing is needed for reading. A transaction that reads in order to write also locks the row, and
        so waits until the other's value is committed or gone.
        """,
        test("A", "B")
            .run("A", "UPDATE test SET value = 101 WHERE id = 1")
            .run("B", ALL_ROWS)
            .as("first")
            .rollback("A")
            .run("B", ALL_ROWS)
            .as("second")
            .commit("B")
            .judged(ALL_ROWS, DirtyAnomalies::sawUncommitted),
        test("A", "B")
            .run("A", "UPDATE test SET value = 101 WHERE id = 1")
            .run("B", "SELECT id, value FROM test ORDER BY id FOR SHARE")
            .as("first")
            .rollback("A")
            .run("B", ALL_ROWS)
            .as("second")
            .commit("B")
            .judged(ALL_ROWS, DirtyAnomalies::sawUncommitted));
  }

  private static Scenario g1b() {
    return new Scenario(
        "g1b",
        ANOMALIES,
        "G1b: intermediate read",
        "A transaction writes a row twice. Can another see the value in between?",
        """
        Others see only what a transaction has left when it commits. The value in between is a version of
        the row that no other transaction can see.
        """,
        "Nothing is needed for reading. A reader that will write takes the row's lock, and waits.",
        test("A", "B")
            .run("A", "UPDATE test SET value = 101 WHERE id = 1")
            .run("B", ALL_ROWS)
            .as("first")
            .run("A", "UPDATE test SET value = 11 WHERE id = 1")
            .commit("A")
            .run("B", ALL_ROWS)
            .as("second")
            .commit("B")
            .judged(ALL_ROWS, DirtyAnomalies::sawUncommitted),
        test("A", "B")
            .run("A", "UPDATE test SET value = 101 WHERE id = 1")
            .run("B", "SELECT id, value FROM test ORDER BY id FOR SHARE")
            .as("first")
            .run("A", "UPDATE test SET value = 11 WHERE id = 1")
            .commit("A")
            .run("B", ALL_ROWS)
            .as("second")
            .commit("B")
            .judged(ALL_ROWS, DirtyAnomalies::sawUncommitted));
  }

  private static Finding sawUncommitted(Observations seen) {
    return Finding.of(
        seen.contains("first", "101") || seen.contains("second", "101"),
        "B saw 101, which was never committed.",
        "B never saw 101, which was never committed.");
  }

  private static Scenario g1c() {
    return new Scenario(
        "g1c",
        ANOMALIES,
        "G1c: circular information flow",
        """
        Each of two transactions writes a row and reads the other's. Can both see what the other has
        not committed yet, as if each came after the other?
        """,
        """
        No transaction reads uncommitted values, so neither sees the other's. SERIALIZABLE goes further:
        each read the old value of the row that the other wrote, so neither can come first, and one is
        refused with 40001.
        """,
        "Take the locks of all rows that matter, in one order, before reading.",
        test("A", "B")
            .run("A", "UPDATE test SET value = 11 WHERE id = 1")
            .run("B", "UPDATE test SET value = 22 WHERE id = 2")
            .run("A", "SELECT value FROM test WHERE id = 2")
            .as("A read")
            .run("B", "SELECT value FROM test WHERE id = 1")
            .as("B read")
            .commit("A")
            .commit("B")
            .judged(ALL_ROWS, DirtyAnomalies::circular),
        test("A", "B")
            .run("A", LOCK_BOTH)
            .run("B", LOCK_BOTH)
            .run("A", "UPDATE test SET value = 11 WHERE id = 1")
            .run("A", "SELECT value FROM test WHERE id = 2")
            .as("A read")
            .commit("A")
            .run("B", "UPDATE test SET value = 22 WHERE id = 2")
            .run("B", "SELECT value FROM test WHERE id = 1")
            .as("B read")
            .commit("B")
            .judged(ALL_ROWS, DirtyAnomalies::circular));
  }

  private static Finding circular(Observations seen) {
    String values = "A read " + seen.text("A read") + ", B read " + seen.text("B read");
    return Finding.of(
        seen.number("A read") == 22 && seen.number("B read") == 11,
        values + ": each saw the other's write.",
        values + ": not both saw the other's write.");
  }

  private static Scenario otv() {
    return new Scenario(
        "otv",
        ANOMALIES,
        "OTV: observed transaction vanishes",
        """
        Two transactions write the same two rows, one after the other. Can a third see one row as the
        second left it, and afterwards the other row still as the first left it?
        """,
        """
        Visibility belongs to transactions, not to rows: a whole transaction becomes visible between two
        statements, never a part of it.
        """,
        "Read what belongs together in one statement: it has one snapshot, at every level.",
        writersOfBoth()
            .run("C", "SELECT value FROM test WHERE id = 1")
            .as("1st")
            .run("B", "UPDATE test SET value = 18 WHERE id = 2")
            .run("C", "SELECT value FROM test WHERE id = 2")
            .as("2nd")
            .commit("B")
            .run("C", "SELECT value FROM test WHERE id = 2")
            .as("3rd")
            .run("C", "SELECT value FROM test WHERE id = 1")
            .as("4th")
            .commit("C")
            .judged(
                ALL_ROWS,
                seen -> {
                  List<String> reads =
                      List.of(
                          seen.text("1st"), seen.text("2nd"), seen.text("3rd"), seen.text("4th"));
                  return vanished(reads);
                }),
        writersOfBoth()
            .run("C", ALL_ROWS)
            .as("1st")
            .run("B", "UPDATE test SET value = 18 WHERE id = 2")
            .commit("B")
            .run("C", ALL_ROWS)
            .as("2nd")
            .commit("C")
            .judged(
                ALL_ROWS,
                seen ->
                    vanished(
                        List.of(
                            seen.rows("1st").get(0).get(1),
                            seen.rows("1st").get(1).get(1),
                            seen.rows("2nd").get(0).get(1),
                            seen.rows("2nd").get(1).get(1)))));
  }

  private static Script.Writer writersOfBoth() {
    return test("A", "B", "C")
        .run("A", "UPDATE test SET value = 11 WHERE id = 1")
        .run("A", "UPDATE test SET value = 19 WHERE id = 2")
        .run("B", "UPDATE test SET value = 12 WHERE id = 1")
        .commit("A");
  }

  /** Whether a read saw a value of B, and a later one a value of A that B had replaced. */
  private static Finding vanished(List<String> reads) {
    boolean ofB = false;
    boolean back = false;
    for (String read : reads) {
      back |= ofB && List.of("11", "19").contains(read);
      ofB |= List.of("12", "18").contains(read);
    }
    String values = "C read " + String.join(", ", reads);
    return Finding.of(
        back, values + ": B was there and gone again.", values + ": once B was seen, it stayed.");
  }
}
