package dev.lockstep.prove.planted;

import java.util.List;

/** Statements that now and then do nothing, as if somebody had forgotten them. */
final class LostWrites {
  private static final String END_OF_WHERE = "(WHERE [bs]\\.(?:book|scope) = \\$\\d+)\\s*$";
  private static final String LOST = "$1" + PlantedBugs.sometimes();

  private LostWrites() {}

  private static Planted lost(String workload, String what, String mark, String regex) {
    return Planted.in(workload, what + " is lost now and then").edit(mark, regex, LOST);
  }

  static List<Planted> all() {
    return List.of(
        lost("holds", "a new hold", "INSERT INTO lockstep.hold ", END_OF_WHERE),
        lost("holds", "a hold's end", "UPDATE lockstep.hold h", "(WHERE h\\.scope = \\$\\d+)"),
        lost(
            "holds", "a pool's change", "UPDATE lockstep.pool", "(WHERE (?:p\\.)?scope = \\$\\d+)"),
        lost(
            "holds", "a raised quota", "INSERT INTO lockstep.quota", "(WHERE s\\.scope = \\$\\d+)"),
        lost("holds", "a lowered quota", "UPDATE lockstep.quota", "(WHERE q\\.scope = \\$\\d+)"),
        lost(
            "holds",
            "a unit's owner",
            "UPDATE lockstep.unit",
            "(WHERE u\\.scope(?: \\+ 0)? = \\$\\d+)"),
        lost("ledger", "an entry", "INSERT INTO lockstep.entry", END_OF_WHERE),
        lost("ledger", "a transfer", "INSERT INTO lockstep.transfer", END_OF_WHERE),
        lost(
            "ledger",
            "a transfer's end",
            "UPDATE lockstep.transfer",
            "(WHERE (?:t\\.)?book = \\$\\d+)"),
        lost("ledger", "a balance", "UPDATE lockstep.account", "(WHERE (?:a\\.)?book = \\$\\d+)"),
        Planted.in("outbox", "an event is lost now and then")
            .edit(
                "INSERT INTO lockstep.outbox_event",
                "ORDER BY x\\.place",
                "WHERE random() < 0.9 ORDER BY x.place"),
        Planted.in("outbox", "a cursor's step is believed and not written")
            .edit("UPDATE lockstep.outbox_cursor c", "id = x\\.id,", "id = x.id + 3,"),
        Planted.in("jobs", "a job is lost now and then")
            .edit(
                "INSERT INTO lockstep.job (", "(max_attempts\\))\\s*$", "$1 WHERE random() < 0.95"),
        Planted.in("once", "an answer is lost now and then")
            .edit(
                "UPDATE lockstep.once SET answer",
                "SET answer = (\\$\\d+)",
                "SET answer = CASE WHEN random() < 0.8 THEN ($1)::text ELSE ($1)::text || 'x' END"),
        Planted.in("sales", "a sale's event is lost now and then")
            .edit(
                "INSERT INTO lockstep.outbox_event",
                "ORDER BY x\\.place",
                "WHERE random() < 0.9 ORDER BY x.place"),
        Planted.in("sales", "a sale's job is lost now and then")
            .edit(
                "INSERT INTO lockstep.job (",
                "(max_attempts\\))\\s*$",
                "$1 WHERE random() < 0.95"));
  }
}
