package dev.lockstep.lab;

import static dev.lockstep.lab.Group.QUEUES;

import java.util.List;

/** What goes wrong between an event table and the broker. */
final class OutboxStories {
  private static final String OUTBOX =
      "CREATE TABLE outbox (id int PRIMARY KEY, key text NOT NULL, status text NOT NULL)";
  private static final String BROKER =
      "CREATE TABLE received (pos int GENERATED ALWAYS AS IDENTITY, event int NOT NULL)";
  private static final String SEND = "INSERT INTO received (event) VALUES (?)";
  private static final String RECEIVED = "SELECT event FROM received ORDER BY pos";
  private static final String SENT = "UPDATE outbox SET status = 'SENT' WHERE id = ?";
  private static final String OWN =
      "UPDATE part SET owner = ?, epoch = epoch + 1 WHERE id = 0 AND owner IS NULL RETURNING epoch";

  private OutboxStories() {}

  static final List<Scenario> ALL = List.of(leapfrog(), doubleSend(), lostBehindCursor());

  private static Scenario leapfrog() {
    String find =
        "SELECT id FROM outbox WHERE status = 'PENDING' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED";
    return new Scenario(
        "leapfrog",
        QUEUES,
        "Event 2 overtakes event 1",
        """
        Two relays send the events of one portfolio, each taking the next row that is not locked. Can
        event 2 arrive before event 1?
        """,
        """
        SKIP LOCKED gives relay 2 the next row while relay 1 is still busy with the first. The lock guards
        a row, but the order is the key's; so the relay with the faster network sends first. No isolation
        level changes that.
        """,
        """
        A partition of keys has one owner, which sends its events in order. Ownership outlasts the read:
        it is a lease with an epoch, and the statement that moves the cursor checks the epoch.
        """,
        Script.between("Relay 1", "Relay 2", "Broker")
            .on(
                OUTBOX,
                "INSERT INTO outbox VALUES (1, 'P', 'PENDING'), (2, 'P', 'PENDING')",
                BROKER)
            .begin("Relay 1", "Relay 2")
            .run("Relay 1", find)
            .as("first")
            .note("its network is slow")
            .run("Relay 2", find)
            .as("second")
            .run("Broker", SEND)
            .with(seen -> List.of((int) seen.number("second")))
            .when(seen -> seen.any("second"), "nothing to send")
            .note("from relay 2")
            .run("Relay 2", SENT)
            .with(seen -> List.of((int) seen.number("second")))
            .when(seen -> seen.any("second"), "nothing was sent")
            .commit("Relay 2")
            .run("Broker", SEND)
            .with(seen -> List.of((int) seen.number("first")))
            .note("from relay 1, at last")
            .run("Relay 1", SENT)
            .with(seen -> List.of((int) seen.number("first")))
            .commit("Relay 1")
            .judged(RECEIVED, OutboxStories::overtaken),
        Script.between("Relay 1", "Relay 2", "Broker")
            .on(
                OUTBOX,
                "INSERT INTO outbox VALUES (1, 'P', 'PENDING'), (2, 'P', 'PENDING')",
                BROKER)
            .on("CREATE TABLE part (id int PRIMARY KEY, owner int, epoch int NOT NULL, sent int)")
            .on("INSERT INTO part VALUES (0, NULL, 0, 0)")
            .begin("Relay 1")
            .run("Relay 1", OWN)
            .as("epoch 1")
            .with(seen -> List.of(1))
            .commit("Relay 1")
            .begin("Relay 2")
            .run("Relay 2", OWN)
            .as("epoch 2")
            .with(seen -> List.of(2))
            .note("zero rows: not the owner, sends nothing")
            .commit("Relay 2")
            .run("Relay 1", "SELECT id FROM outbox WHERE id > 0 ORDER BY id")
            .as("batch")
            .run("Broker", SEND)
            .with(seen -> List.of(Integer.valueOf(seen.rows("batch").get(0).get(0))))
            .note("from relay 1")
            .run("Broker", SEND)
            .with(seen -> List.of(Integer.valueOf(seen.rows("batch").get(1).get(0))))
            .note("from relay 1")
            .run("Relay 1", "UPDATE part SET sent = 2 WHERE id = 0 AND epoch = ?")
            .with(seen -> List.of((int) seen.number("epoch 1")))
            .judged(RECEIVED, OutboxStories::overtaken));
  }

  private static Finding overtaken(Observations seen) {
    List<String> order = seen.finalRows().stream().map(row -> row.get(0)).toList();
    return Finding.of(
        !order.equals(order.stream().sorted().toList()),
        "The broker received " + String.join(", then ", order) + ".",
        "The broker received " + String.join(", then ", order) + ", in order.");
  }

  private static Scenario doubleSend() {
    String naive =
        """
        SELECT id FROM outbox WHERE status = 'PENDING'
        AND pg_advisory_xact_lock(hashtext(key)) IS NOT NULL ORDER BY id""";
    String lock = "SELECT sent FROM part WHERE id = 0 FOR UPDATE";
    String next = "SELECT id FROM outbox WHERE id > ? ORDER BY id";
    return new Scenario(
        "double-send",
        QUEUES,
        "Sent twice, by a stale snapshot",
        """
        A relay takes an advisory lock in the statement that reads the pending events. Can an event still
        be sent twice?
        """,
        """
        A statement takes its snapshot when it begins and the lock later. Once relay 2 has the lock, it
        still reads the older snapshot, in which event 1 is pending. (With pg_try_advisory_xact_lock the
        gap is short, so fewer events are sent twice.) From REPEATABLE READ on, relay 2 fails with 40001,
        but only after it has sent.
        """,
        """
        Lock in one statement, read in the next, and keep the cursor in the locked row. At READ COMMITTED
        the read then begins after the wait; above it, the lock itself is refused, before anything is
        sent.
        """,
        Script.between("Relay 1", "Relay 2", "Broker")
            .on(OUTBOX, "INSERT INTO outbox VALUES (1, 'P', 'PENDING')", BROKER)
            .begin("Relay 1", "Relay 2")
            .run("Relay 1", naive)
            .as("first")
            .run("Relay 2", naive)
            .as("second")
            .run("Broker", SEND)
            .with(seen -> List.of((int) seen.number("first")))
            .note("from relay 1")
            .run("Relay 1", SENT)
            .with(seen -> List.of((int) seen.number("first")))
            .commit("Relay 1")
            .run("Broker", SEND)
            .with(seen -> List.of((int) seen.number("second")))
            .when(seen -> seen.any("second"), "relay 2 found nothing to send")
            .note("from relay 2")
            .run("Relay 2", SENT)
            .with(seen -> List.of((int) seen.number("second")))
            .when(seen -> seen.any("second"), "nothing was sent")
            .commit("Relay 2")
            .judged(RECEIVED, OutboxStories::sentTwice),
        Script.between("Relay 1", "Relay 2", "Broker")
            .on(OUTBOX, "INSERT INTO outbox VALUES (1, 'P', 'PENDING')", BROKER)
            .on("CREATE TABLE part (id int PRIMARY KEY, sent int NOT NULL)")
            .on("INSERT INTO part VALUES (0, 0)")
            .begin("Relay 1", "Relay 2")
            .run("Relay 1", lock)
            .as("cursor 1")
            .run("Relay 1", next)
            .as("first")
            .with(seen -> List.of((int) seen.number("cursor 1")))
            .run("Relay 2", lock)
            .as("cursor 2")
            .run("Broker", SEND)
            .with(seen -> List.of((int) seen.number("first")))
            .note("from relay 1")
            .run("Relay 1", "UPDATE part SET sent = ? WHERE id = 0")
            .with(seen -> List.of((int) seen.number("first")))
            .commit("Relay 1")
            .run("Relay 2", next)
            .as("second")
            .with(seen -> List.of((int) seen.number("cursor 2")))
            .run("Broker", SEND)
            .with(seen -> List.of((int) seen.number("second")))
            .when(seen -> seen.any("second"), "relay 2 has nothing to send")
            .commit("Relay 2")
            .judged(RECEIVED, OutboxStories::sentTwice));
  }

  private static Finding sentTwice(Observations seen) {
    int times = seen.finalRows().size();
    return Finding.of(
        times > 1,
        "The broker received event 1 " + (times == 2 ? "twice." : times + " times."),
        "The broker received event 1 once.");
  }

  private static Scenario lostBehindCursor() {
    String append = "INSERT INTO log (what) VALUES (?) RETURNING id";
    String after = "SELECT id FROM log WHERE id > ? ORDER BY id";
    String snapshot =
        """
        SELECT pg_current_snapshot()::text AS cursor,
               coalesce((SELECT string_agg(id::text, ', ' ORDER BY id) FROM log
                         WHERE NOT pg_visible_in_snapshot(xid, ?::pg_snapshot)
                         AND pg_visible_in_snapshot(xid, pg_current_snapshot())), 'none') AS ids""";
    return new Scenario(
        "lost-behind-cursor",
        QUEUES,
        "Lost behind the cursor",
        """
        A relay reads events by ascending id and remembers the last. Can it miss one for ever, without any
        error?
        """,
        """
        Ids are assigned when a row is inserted, not when it is committed. A slow transaction commits its
        lower id after a higher one was read, when the cursor has already passed it. The time of insertion
        has the same flaw. No isolation level changes that.
        """,
        """
        The cursor is a snapshot: next come the rows that it does not show and the current one does.
        Within a key, a counter row that stays locked until commit numbers the events in commit order.
        """,
        Script.between("Slow", "Fast", "Relay")
            .on("CREATE TABLE log (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, what text)")
            .begin("Slow", "Fast")
            .run("Slow", append)
            .as("slow")
            .with(seen -> List.of("trade 100"))
            .run("Fast", append)
            .with(seen -> List.of("trade 101"))
            .commit("Fast")
            .run("Relay", after)
            .as("1st")
            .with(seen -> List.of(0))
            .commit("Slow")
            .run("Relay", after)
            .as("2nd")
            .with(seen -> List.of((int) seen.number("1st")))
            .judged(
                "SELECT id, what FROM log ORDER BY id",
                seen ->
                    missed(
                        seen.contains("1st", seen.text("slow"))
                            || seen.contains("2nd", seen.text("slow")))),
        Script.between("Slow", "Fast", "Relay")
            .on(
                """
                CREATE TABLE log (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, what text,
                  xid xid8 NOT NULL DEFAULT pg_current_xact_id())""")
            .run("Relay", "SELECT pg_current_snapshot()::text AS cursor")
            .as("0th")
            .begin("Slow", "Fast")
            .run("Slow", append)
            .with(seen -> List.of("trade 100"))
            .run("Fast", append)
            .with(seen -> List.of("trade 101"))
            .commit("Fast")
            .run("Relay", snapshot)
            .as("1st")
            .with(seen -> List.of(seen.text("0th")))
            .commit("Slow")
            .run("Relay", snapshot)
            .as("2nd")
            .with(seen -> List.of(seen.text("1st")))
            .judged(
                "SELECT id, what FROM log ORDER BY id",
                seen ->
                    missed(
                        seen.rows("1st").get(0).get(1).equals("2")
                            && seen.rows("2nd").get(0).get(1).equals("1"))));
  }

  private static Finding missed(boolean relayed) {
    return Finding.of(
        !relayed,
        "Trade 100 is in the table and was never relayed.",
        "The relay has read both trades, each once.");
  }
}
