package dev.lockstep.lab;

import static dev.lockstep.lab.Group.QUEUES;

import java.util.List;

/** What goes wrong when several workers take from one list. */
final class QueueStories {
  private static final String EVENTS =
      "CREATE TABLE event (id int PRIMARY KEY, status text NOT NULL)";
  private static final String LEFT = "SELECT id, status FROM event ORDER BY id";

  private QueueStories() {}

  static final List<Scenario> ALL = List.of(claimedTwice(), staleWorker(), skipLocked());

  private static Scenario claimedTwice() {
    String find = "SELECT id FROM event WHERE status = 'PENDING' ORDER BY id LIMIT 1";
    String claim = "UPDATE event SET status = 'PROCESSING' WHERE id = ?";
    String own =
        """
        UPDATE shard SET owner = ?, epoch = epoch + 1 WHERE id = 0 AND owner IS NULL
        RETURNING epoch""";
    return new Scenario(
        "claimed-twice",
        QUEUES,
        "One event, claimed twice",
        "Two workers look for work at the same moment. Can both run the same event?",
        """
        Both find event 1 pending, and both mark it. The second mark waits for the first, then overwrites
        PROCESSING with PROCESSING: one row changed, as expected. Nothing shows that the event was taken.
        From REPEATABLE READ on, the second is refused with 40001.
        """,
        """
        Workers own shards, and an epoch counts the owners. A worker reads only shards that it owns, so a
        claim writes nothing; the result that it writes at the end carries its epoch.
        """,
        Script.between("Worker 1", "Worker 2")
            .on(EVENTS, "INSERT INTO event VALUES (1, 'PENDING')")
            .begin("Worker 1", "Worker 2")
            .run("Worker 1", find)
            .as("first")
            .run("Worker 2", find)
            .as("second")
            .run("Worker 1", claim)
            .as("claim 1")
            .with(seen -> List.of((int) seen.number("first")))
            .when(seen -> seen.any("first"), "nothing to do")
            .run("Worker 2", claim)
            .as("claim 2")
            .with(seen -> List.of((int) seen.number("second")))
            .when(seen -> seen.any("second"), "nothing to do")
            .commit("Worker 1")
            .note("runs event 1")
            .commit("Worker 2")
            .note("runs event 1")
            .judged(
                LEFT,
                seen ->
                    ranBy(
                        seen.committed("Worker 1") && seen.changed("claim 1") == 1,
                        seen.committed("Worker 2") && seen.changed("claim 2") == 1)),
        Script.between("Worker 1", "Worker 2")
            .on(EVENTS, "INSERT INTO event VALUES (1, 'PENDING')")
            .on("CREATE TABLE shard (id int PRIMARY KEY, owner int, epoch int NOT NULL)")
            .on("INSERT INTO shard VALUES (0, NULL, 0)")
            .begin("Worker 1", "Worker 2")
            .run("Worker 1", own)
            .as("first")
            .with(seen -> List.of(1))
            .run("Worker 2", own)
            .as("second")
            .with(seen -> List.of(2))
            .commit("Worker 1")
            .commit("Worker 2")
            .begin("Worker 1")
            .run("Worker 1", find)
            .as("claim 1")
            .note("runs event 1")
            .run("Worker 2", find)
            .as("claim 2")
            .when(
                seen -> seen.any("second") && seen.committed("Worker 2"), "not the owner: no work")
            .run(
                "Worker 1",
                """
                DELETE FROM event WHERE id = 1
                AND EXISTS (SELECT 1 FROM shard WHERE id = 0 AND epoch = ? FOR SHARE)""")
            .with(seen -> List.of((int) seen.number("first")))
            .commit("Worker 1")
            .judged(LEFT, seen -> ranBy(seen.any("claim 1"), seen.any("claim 2"))));
  }

  private static Finding ranBy(boolean first, boolean second) {
    return Finding.of(
        first && second,
        "Both workers have run event 1: the mail went out twice.",
        "One worker has run event 1.");
  }

  private static Scenario staleWorker() {
    String take = "UPDATE event SET status = ? WHERE id = 1";
    String fence =
        """
        UPDATE event SET status = ? WHERE id = 1
        AND EXISTS (SELECT 1 FROM shard WHERE id = 0 AND epoch = ? FOR SHARE)""";
    String follow = "UPDATE shard SET owner = 2, epoch = epoch + 1 WHERE id = 0 RETURNING epoch";
    return new Scenario(
        "stale-worker",
        QUEUES,
        "The worker that came back",
        """
        Worker 1 stalls for a minute; worker 2 takes over its work and finishes it. Then worker 1
        continues. Can its old result replace the new one?
        """,
        """
        The row is free when worker 1 continues, so nothing stops its write. Each step is a separate
        transaction, so no isolation level connects them. Clocks do not help either: worker 1 does not
        know that time has passed.
        """,
        """
        A fencing epoch. Every take-over raises it, and every write of a worker carries the epoch it
        worked under. Zero rows changed: the worker is no longer the owner, and stops.
        """,
        Script.between("Worker 1", "Worker 2")
            .on(EVENTS, "INSERT INTO event VALUES (1, 'RUNNING by 1')")
            .begin("Worker 2")
            .run("Worker 2", take)
            .with(seen -> List.of("DONE by 2"))
            .note("worker 1 is silent: takes over, and finishes")
            .commit("Worker 2")
            .begin("Worker 1")
            .run("Worker 1", take)
            .as("late")
            .with(seen -> List.of("FAILED by 1"))
            .note("wakes up and writes its result")
            .commit("Worker 1")
            .judged(LEFT, QueueStories::overwritten),
        Script.between("Worker 1", "Worker 2")
            .on(EVENTS, "INSERT INTO event VALUES (1, 'RUNNING by 1')")
            .on("CREATE TABLE shard (id int PRIMARY KEY, owner int, epoch int NOT NULL)")
            .on("INSERT INTO shard VALUES (0, 1, 1)")
            .begin("Worker 2")
            .run("Worker 2", follow)
            .as("epoch")
            .note("worker 1 is silent: takes over, and finishes")
            .run("Worker 2", fence)
            .with(seen -> List.of("DONE by 2", (int) seen.number("epoch")))
            .commit("Worker 2")
            .begin("Worker 1")
            .run("Worker 1", fence)
            .as("late")
            .with(seen -> List.of("FAILED by 1", 1))
            .note("wakes up and writes its result")
            .commit("Worker 1")
            .judged(LEFT, QueueStories::overwritten));
  }

  private static Finding overwritten(Observations seen) {
    String status = seen.finalRows().get(0).get(1);
    return Finding.of(
        status.equals("FAILED by 1"),
        "The event is “" + status + "”, though worker 2 had finished it.",
        "The event is “"
            + status
            + "”; the late result changed "
            + seen.changed("late")
            + " rows.");
  }

  private static Scenario skipLocked() {
    String find = "SELECT id FROM event WHERE status = 'PENDING' ORDER BY id LIMIT 1 FOR UPDATE";
    return new Scenario(
        "skip-locked",
        QUEUES,
        "Two workers, one after the other",
        "Two events are pending, and two workers look. Must one wait, though there is work for"
            + " both?",
        """
        FOR UPDATE makes worker 2 wait for the first row although the second is free: however many workers
        there are, they run one at a time. At READ COMMITTED worker 2 then finds event 1 done and takes
        event 2; above it, it has waited only to be refused with 40001.
        """,
        """
        SKIP LOCKED takes the first row that is not locked: right for a queue, where any row will do, but
        wrong for a statement about all rows; see “Sold out, said too soon”.
        """,
        claims(find),
        claims(find + " SKIP LOCKED"));
  }

  private static Script claims(String find) {
    String done = "UPDATE event SET status = 'DONE' WHERE id = ?";
    return Script.between("Worker 1", "Worker 2")
        .on(EVENTS, "INSERT INTO event VALUES (1, 'PENDING'), (2, 'PENDING')")
        .begin("Worker 1", "Worker 2")
        .run("Worker 1", find)
        .as("first")
        .run("Worker 2", find)
        .as("second")
        .run("Worker 1", done)
        .with(seen -> List.of((int) seen.number("first")))
        .commit("Worker 1")
        .run("Worker 2", done)
        .with(seen -> List.of((int) seen.number("second")))
        .when(seen -> seen.any("second"), "nothing to do")
        .commit("Worker 2")
        .judged(LEFT, QueueStories::inTurn);
  }

  private static Finding inTurn(Observations seen) {
    String got = seen.any("second") ? "did event " + seen.text("second") : "was refused";
    return Finding.of(
        seen.waited("second"),
        "Worker 2 waited for worker 1, and then " + got + ".",
        "Worker 2 " + got + " without waiting.");
  }
}
