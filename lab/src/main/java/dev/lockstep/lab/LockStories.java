package dev.lockstep.lab;

import static dev.lockstep.lab.Group.LOCKS;

import dev.lockstep.fault.SqlFault;
import dev.lockstep.tx.AdvisoryLocks;
import java.util.List;

/** What locks block, and for how long. */
final class LockStories {
  private LockStories() {}

  static final List<Scenario> ALL = List.of(nowait(), deadlockVictim(), advisoryLock());

  private static Scenario nowait() {
    String lock = "SELECT stock FROM item WHERE id = 1 FOR UPDATE";
    return new Scenario(
        "nowait",
        LOCKS,
        "Standing in line",
        "Ann keeps a row locked for as long as she likes. Must Bob wait, with a connection in his"
            + " hand?",
        """
        FOR UPDATE waits as long as lock_timeout allows, by default for ever. Every waiting session keeps
        a connection; when the pool is empty, nothing works any more.
        """,
        """
        NOWAIT fails with 55P03 at once, lock_timeout after a while; then say “busy, try again”. Lockstep
        bounds every wait. Its queue is in the process, where waiting costs no connection.
        """,
        Script.between("Ann", "Bob")
            .on("CREATE TABLE item (id int PRIMARY KEY, stock int NOT NULL)")
            .on("INSERT INTO item VALUES (1, 5)")
            .begin("Ann", "Bob")
            .run("Ann", lock)
            .note("calls the bank")
            .run("Bob", lock)
            .as("Bob's lock")
            .commit("Ann")
            .commit("Bob")
            .judged("SELECT id, stock FROM item", LockStories::stoodInLine),
        Script.between("Ann", "Bob")
            .on("CREATE TABLE item (id int PRIMARY KEY, stock int NOT NULL)")
            .on("INSERT INTO item VALUES (1, 5)")
            .begin("Ann", "Bob")
            .run("Ann", lock)
            .note("calls the bank")
            .run("Bob", lock + " NOWAIT")
            .as("Bob's lock")
            .rollback("Bob")
            .note("Bob is told: busy, try again")
            .commit("Ann")
            .judged("SELECT id, stock FROM item", LockStories::stoodInLine));
  }

  private static Finding stoodInLine(Observations seen) {
    return Finding.of(
        seen.waited("Bob's lock"),
        "Bob waited until Ann had finished.",
        "Bob had his answer at once.");
  }

  private static Scenario deadlockVictim() {
    String one = "UPDATE item SET stock = stock - 1 WHERE id = 1";
    String two = "UPDATE item SET stock = stock - 1 WHERE id = 2";
    String both = "SELECT id FROM item WHERE id IN (1, 2) ORDER BY id FOR UPDATE";
    String work = "INSERT INTO work SELECT n FROM generate_series(1, 1000) n";
    String finals = "SELECT (SELECT count(*) FROM work) AS rows, sum(stock) AS stock FROM item";
    return new Scenario(
        "deadlock-victim",
        LOCKS,
        "Who dies in a deadlock",
        """
        Small has changed one row, Big a thousand and one, and they deadlock. Does PostgreSQL spare the
        transaction that has done more?
        """,
        """
        PostgreSQL does not compare their work. A session that has waited for deadlock_timeout looks for a
        cycle of waits and, if it finds one, aborts itself. Here Big looks after 0.1 s and Small after 5
        s, so Big is aborted.
        """,
        """
        Do not rely on which transaction is aborted. Lock in one order, so that no cycle can form. If
        40P01 happens all the same, run the whole transaction again.
        """,
        Script.between("Small", "Big")
            .on("CREATE TABLE item (id int PRIMARY KEY, stock int NOT NULL)")
            .on("INSERT INTO item VALUES (1, 5), (2, 5)", "CREATE TABLE work (n int)")
            .run("Small", "SELECT lab.deadlock_timeout(5000)")
            .run("Big", "SELECT lab.deadlock_timeout(100)")
            .begin("Small", "Big")
            .run("Small", one)
            .run("Big", work)
            .run("Big", two)
            .run("Small", two)
            .run("Big", one)
            .commit("Small")
            .commit("Big")
            .judged(finals, LockStories::largerAborted),
        Script.between("Small", "Big")
            .on("CREATE TABLE item (id int PRIMARY KEY, stock int NOT NULL)")
            .on("INSERT INTO item VALUES (1, 5), (2, 5)", "CREATE TABLE work (n int)")
            .begin("Small", "Big")
            .run("Small", both)
            .run("Big", both)
            .run("Small", one)
            .run("Small", two)
            .commit("Small")
            .run("Big", work)
            .run("Big", two)
            .run("Big", one)
            .commit("Big")
            .judged(finals, LockStories::largerAborted));
  }

  private static Finding largerAborted(Observations seen) {
    List<String> victims = seen.victimsOf(SqlFault.DEADLOCK);
    return Finding.of(
        victims.contains("Big"),
        "Big was aborted with all its work; Small, with one row, went on.",
        victims.isEmpty() ? "There was no deadlock." : "Small was aborted.");
  }

  private static Scenario advisoryLock() {
    String name = "draw of campaign 7";
    String attempt = "SELECT pg_try_advisory_xact_lock(hashtext('draw')) AS got";
    return new Scenario(
        "advisory-lock",
        LOCKS,
        "The lock that nobody holds",
        """
        Job 1 takes an advisory lock, commits, and gives its connection back to the pool. Can job 2 get
        the lock?
        """,
        """
        pg_advisory_lock belongs to the session, not to the transaction. Behind a pool the session, and
        the lock with it, passes to another client. And hashtext has 32 bits: among 77,000 names, the odds
        are even that two share a lock.
        """,
        """
        pg_advisory_xact_lock ends with the transaction. Lockstep's AdvisoryLocks, which runs here, uses
        only such locks, with 64 bits of SHA-256 as key.
        """,
        Script.between("Job 1", "Job 2")
            .on("CREATE TABLE done (job int)")
            .begin("Job 1")
            .run("Job 1", "SELECT pg_advisory_lock(hashtext('draw'))")
            .run("Job 1", "INSERT INTO done VALUES (1)")
            .commit("Job 1")
            .note("the connection goes back to the pool")
            .begin("Job 2")
            .run("Job 2", attempt)
            .as("got")
            .run("Job 2", "INSERT INTO done VALUES (2)")
            .when(seen -> seen.text("got").equals("t"), "another session has the lock: gives up")
            .commit("Job 2")
            .judged("SELECT count(*) AS done FROM done", LockStories::stranded),
        Script.between("Job 1", "Job 2")
            .on("CREATE TABLE done (job int)")
            .begin("Job 1")
            .code(
                "Job 1",
                "AdvisoryLocks.lock(connection, \"" + name + "\")",
                (connection, isolation) -> {
                  AdvisoryLocks.lock(connection, name);
                  return new Outcome.Done();
                })
            .run("Job 1", "INSERT INTO done VALUES (1)")
            .commit("Job 1")
            .note("the connection goes back to the pool")
            .begin("Job 2")
            .code(
                "Job 2",
                "AdvisoryLocks.tryLock(connection, \"" + name + "\")",
                (connection, isolation) ->
                    new Outcome.Rows(
                        List.of("got"),
                        List.of(List.of(AdvisoryLocks.tryLock(connection, name) ? "t" : "f"))))
            .as("got")
            .run("Job 2", "INSERT INTO done VALUES (2)")
            .when(seen -> seen.text("got").equals("t"), "another session has the lock: gives up")
            .commit("Job 2")
            .judged("SELECT count(*) AS done FROM done", LockStories::stranded));
  }

  private static Finding stranded(Observations seen) {
    return Finding.of(
        !seen.text("got").equals("t"),
        "Job 1 has committed long ago, and job 2 does not get the lock.",
        "Job 1 has committed, and job 2 got the lock.");
  }
}
