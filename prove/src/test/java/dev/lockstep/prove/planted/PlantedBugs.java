package dev.lockstep.prove.planted;

import dev.lockstep.prove.fault.Fault;
import java.util.ArrayList;
import java.util.List;

/**
 * The bugs. A parameter that an edit no longer needs stays in the statement, or it would not bind.
 */
final class PlantedBugs {
  private static final String SOMETIMES = " AND random() < 0.9";
  private static final String EPOCH = "f\\.epoch = (\\$\\d+)";
  private static final String NO_EPOCH = "($1)::text IS NOT NULL";
  private static final String NOT_DURABLE =
      "DO \\$\\$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END \\$\\$"
          .replace("\\", "");

  private PlantedBugs() {}

  static List<Planted> all() {
    List<Planted> all = new ArrayList<>();
    all.addAll(holds());
    all.addAll(onceAndTransactions());
    all.addAll(jobs());
    all.addAll(outbox());
    all.addAll(ledger());
    all.addAll(LostWrites.all());
    return all;
  }

  private static Planted unguardedPool(String name) {
    return Planted.in("holds", name)
        .edit(
            "UPDATE lockstep.pool",
            "audit_seq = (\\$\\d+) AND paused = (\\$\\d+) THEN",
            "($1)::text IS NOT NULL AND ($2)::text IS NOT NULL THEN")
        .edit("UPDATE lockstep.pool", "p\\.audit_seq = a\\.seq_before\\[x\\.i\\] AND", "")
        .schema("ALTER TABLE lockstep.stock_audit DROP CONSTRAINT stock_audit_pkey");
  }

  private static List<Planted> holds() {
    return List.of(
        unguardedPool("a pool is sold from memory without a guard"),
        unguardedPool("a pool is neither locked nor guarded")
            .edit("FROM lockstep.pool", "ORDER BY pool FOR UPDATE", "ORDER BY pool"),
        Planted.in("holds", "the quota's guard is gone, and its lock")
            .edit(
                "INSERT INTO lockstep.quota",
                "CASE WHEN q\\.used \\+ excluded\\.used <= (\\$\\d+) THEN q\\.used \\+ excluded\\.used ELSE -1 END",
                "q.used + excluded.used + 0 * ($1)::int")
            .edit("FROM lockstep.quota", "(ORDER BY buyer[^F]*)FOR UPDATE", "$1"),
        Planted.in("holds", "the quota is overwritten instead of raised")
            .edit(
                "INSERT INTO lockstep.quota",
                "CASE WHEN q\\.used \\+ excluded\\.used <= (\\$\\d+) THEN q\\.used \\+ excluded\\.used ELSE -1 END",
                "excluded.used + 0 * ($1)::int"),
        Planted.in("holds", "the quota is never lowered")
            .edit("UPDATE lockstep.quota", "q\\.used - x\\.delta", "q.used - 0 * x.delta"),
        Planted.in("holds", "the quota is lowered twice")
            .edit(
                "UPDATE lockstep.quota",
                "q\\.used - x\\.delta",
                "greatest(0, q.used - 2 * x.delta)"),
        Planted.in("holds", "a hold ends without its compare-and-set, and without its lock")
            .edit(
                "UPDATE lockstep.hold",
                "CASE WHEN h\\.state = a\\.before\\[x\\.i\\] THEN a\\.state\\[x\\.i\\] ELSE -1 END",
                "a.state[x.i]")
            .edit("FROM lockstep.hold", "ORDER BY hold FOR NO KEY UPDATE", "ORDER BY hold"),
        unguardedPool("units are taken without a look at their owner")
            .edit("FROM lockstep.pool", "ORDER BY pool FOR UPDATE", "ORDER BY pool")
            .edit(
                "UPDATE lockstep.unit",
                "CASE WHEN u\\.hold IS NULL AND u\\.unit = x\\.unit THEN u\\.rank END",
                "u.rank"),
        Planted.in("holds", "expired holds are not taken back")
            .edit(
                "lockstep.hold",
                "expires_at <= statement_timestamp\\(\\)",
                "expires_at <= statement_timestamp() - interval '1 hour'"),
        Planted.in("holds", "an acquire does not ask whether something has expired")
            .edit(
                "lockstep.quota",
                "EXISTS \\(\\s+SELECT FROM lockstep\\.hold\\s+WHERE scope = (\\$\\d+) AND state = 0 AND expires_at <= statement_timestamp\\(\\)\\)",
                "(($1)::bigint IS NULL)"),
        Planted.in("holds", "holds that another batch is ending count as ended")
            .edit("due)", "SELECT count\\(\\*\\) FROM", "SELECT 0 * count(*) FROM"),
        Planted.in("holds", "an existing hold is no conflict")
            .edit(
                "INSERT INTO lockstep.hold ",
                "(WHERE s\\.scope = \\$\\d+)\\s*$",
                "$1 ON CONFLICT (scope, hold) DO NOTHING"),
        Planted.in("holds", "a changed cart keeps its lines")
            .edit(
                "UPDATE lockstep.hold h",
                "\\(pools, quantities, unit_pools, units\\) = ROW",
                "(pools, quantities, unit_pools, units) = (SELECT h.pools, h.quantities, h.unit_pools, h.units FROM (SELECT ROW")
            .edit(
                "h.unit_pools, h.units FROM (SELECT ROW",
                "(END\\))(\\s+FROM \\(SELECT)",
                "$1) AS unused)$2"),
        Planted.in("holds", "an extension is not written")
            .edit(
                "UPDATE lockstep.hold h",
                "expires_at = (timestamptz 'epoch' \\+ interval '1 microsecond' \\* a\\.expires_at\\[x\\.i\\])",
                "expires_at = least(h.expires_at, $1)"),
        Planted.in("holds", "commits are acknowledged before they are durable")
            .with(Fault.CRASH)
            .schema(NOT_DURABLE));
  }

  private static List<Planted> onceAndTransactions() {
    String conflict = "ON CONFLICT \\(scope, owner, key\\) DO NOTHING";
    return List.of(
        Planted.in("once", "a key in use is taken again")
            .edit(
                "INSERT INTO lockstep.once",
                conflict,
                "ON CONFLICT (scope, owner, key) DO UPDATE SET answer = NULL, created_at = excluded.created_at, fingerprint = excluded.fingerprint"),
        Planted.in("once", "keys are not unique")
            .edit("INSERT INTO lockstep.once", conflict, "")
            .schema("ALTER TABLE lockstep.once DROP CONSTRAINT once_pkey"),
        Planted.in("once", "keys expire within moments")
            .edit(
                "INSERT INTO lockstep.once",
                "now\\(\\) \\+ (\\$\\d+) \\* interval '1 millisecond'",
                "now() + 0 * $1 * interval '1 millisecond' + interval '60 milliseconds'"),
        Planted.in("once", "commits are acknowledged before they are durable (once)")
            .with(Fault.CRASH)
            .schema(NOT_DURABLE),
        Planted.in("tx", "SERIALIZABLE is REPEATABLE READ")
            .edit("SERIALIZABLE", "SERIALIZABLE", "REPEATABLE READ"),
        Planted.in("tx", "SERIALIZABLE is READ COMMITTED")
            .edit("SERIALIZABLE", "SERIALIZABLE", "READ COMMITTED"),
        Planted.in("tx", "commits are acknowledged before they are durable (tx)")
            .with(Fault.CRASH)
            .schema(NOT_DURABLE));
  }

  private static List<Planted> jobs() {
    Fault[] nodes = {Fault.PAUSE, Fault.KILL, Fault.HALF_OPEN};
    return List.of(
        Planted.in("jobs", "members are buried before their lease has passed")
            .edit("DELETE FROM lockstep.shard_member", "expires_at <= now\\(\\)", "true"),
        Planted.in("jobs", "a shard is taken without a look at its epoch")
            .with(nodes)
            .edit(
                "UPDATE lockstep.shard s",
                "AND epoch = (\\$\\d+) FOR",
                "AND ($1)::text IS NOT NULL FOR"),
        Planted.in("jobs", "the epoch fence of results is gone")
            .with(nodes)
            .edit("lockstep.job", EPOCH, NO_EPOCH),
        Planted.in("jobs", "the epoch does not grow")
            .with(nodes)
            .edit("UPDATE lockstep.shard", "epoch = (s\\.)?epoch \\+ 1", "epoch = $1epoch"),
        Planted.in("jobs", "a unique key is taken from a live job")
            .edit(
                "INSERT INTO lockstep.job_unique",
                "WHERE u\\.expires_at <= excluded\\.created_at",
                ""),
        Planted.in("jobs", "a unique key is never freed")
            .edit("DELETE FROM lockstep.job_unique", "AND expires_at IS NULL", "AND false"),
        Planted.in("jobs", "a lane runs backwards")
            .edit("lane", "ORDER BY due, id LIMIT", "ORDER BY due DESC, id DESC LIMIT"),
        Planted.in("jobs", "every job is in the queue's lane of its own")
            .edit(
                "INSERT INTO lockstep.job (",
                "\\bx\\.lane, x\\.lane_limit,",
                "CASE WHEN x.lane_limit IS NULL THEN x.lane END, CASE WHEN x.lane_limit IS NULL THEN x.lane_limit END,"),
        Planted.in("jobs", "jobs run before they are due")
            .edit("lockstep.job", "due <= now\\(\\)", "due <= now() + interval '1 hour'"),
        Planted.in("jobs", "failed attempts are not counted")
            .edit(
                "UPDATE lockstep.job j",
                "j\\.attempts \\+ x\\.failed",
                "j.attempts + 0 * x.failed"),
        Planted.in("jobs", "one crash kills a job")
            .with(Fault.KILL)
            .edit(
                "lockstep.job",
                "j\\.crashes \\+ 1 >= (\\$\\d+)",
                "j.crashes + 1 >= least(1, ($1)::int)")
            .edit(
                "lockstep.job",
                "j\\.crashes \\+ 1 < (\\$\\d+)",
                "j.crashes + 1 < least(1, ($1)::int)"),
        Planted.in("jobs", "a cancelled job stays")
            .edit("DELETE FROM lockstep.job ", "WHERE", "WHERE random() < 0.5 AND"),
        Planted.in("jobs", "a schedule forgets how far it is")
            .edit(
                "UPDATE lockstep.job_schedule",
                "done_until = (\\$\\d+)::timestamptz",
                "done_until = ($1)::timestamptz - interval '1 second'"),
        Planted.in("jobs", "commits are acknowledged before they are durable (jobs)")
            .with(Fault.CRASH)
            .schema(NOT_DURABLE));
  }

  private static List<Planted> outbox() {
    Fault[] nodes = {Fault.PAUSE, Fault.KILL, Fault.HALF_OPEN, Fault.CUT_ALL};
    return List.of(
        Planted.in("outbox", "a cursor steps over transactions that are still open")
            .edit(
                "FROM lockstep.outbox_event",
                "NOT pg_visible_in_snapshot\\(e\\.xid, c\\.done\\)",
                "e.xid >= pg_snapshot_xmax(c.done)"),
        Planted.in("outbox", "a key's order is its last transaction's, not its greatest")
            .edit("lockstep.outbox_key", "GREATEST\\(o\\.ord, excluded\\.ord\\)", "excluded.ord"),
        Planted.in("outbox", "a key's counter stands still")
            .edit("lockstep.outbox_key", "seq = o\\.seq \\+ 1", "seq = o.seq"),
        Planted.in("outbox", "a key's counter jumps")
            .edit("lockstep.outbox_key", "seq = o\\.seq \\+ 1", "seq = o.seq + 2"),
        Planted.in("outbox", "events are read in the wrong order")
            .edit(
                "FROM lockstep.outbox_event",
                "ORDER BY e\\.ord, e\\.id LIMIT",
                "ORDER BY e.ord DESC, e.id DESC LIMIT"),
        Planted.in("outbox", "a waiting key goes on after the event that failed")
            .edit("UPDATE lockstep.outbox_parked", "SET seq = x\\.seq,", "SET seq = x.seq + 1,"),
        Planted.in("outbox", "a key that failed begins after the event that failed")
            .edit(
                "INSERT INTO lockstep.outbox_parked",
                "SELECT c\\.part, x\\.sink, x\\.key, x\\.seq,",
                "SELECT c.part, x.sink, x.key, x.seq + 1,"),
        Planted.in("outbox", "the epoch fence of cursors is gone")
            .with(nodes)
            .edit("lockstep.outbox_cursor", EPOCH, NO_EPOCH),
        Planted.in("outbox", "cursors of another life of the server are believed")
            .with(Fault.CRASH)
            .edit("lockstep.outbox", "i\\.started_at = pg_postmaster_start_time\\(\\)", "true"),
        Planted.in("outbox", "members are buried before their lease has passed (outbox)")
            .edit("DELETE FROM lockstep.shard_member", "expires_at <= now\\(\\)", "true"),
        Planted.in("outbox", "commits are acknowledged before they are durable (outbox)")
            .with(Fault.CRASH)
            .schema(NOT_DURABLE));
  }

  private static String move(String from, String to) {
    return """
        DO $do$
        DECLARE body text := pg_get_functiondef('lockstep.move'::regproc);
        BEGIN
          IF position('%1$s' IN body) = 0 THEN RAISE EXCEPTION 'nothing to replace'; END IF;
          EXECUTE replace(body, '%1$s', '%2$s');
        END $do$"""
        .formatted(from, to);
  }

  private static List<Planted> ledger() {
    return List.of(
        Planted.in("ledger", "an account may fall below its floor")
            .schema("ALTER TABLE lockstep.account DROP CONSTRAINT never_below_its_floor"),
        Planted.in("ledger", "accounts are neither locked nor guarded")
            .edit(
                "UPDATE lockstep.account",
                "CASE WHEN version = (\\$\\d+) AND balance = (\\$\\d+) AND pending = (\\$\\d+) THEN",
                "CASE WHEN ($1)::text || ($2)::text || ($3)::text IS NOT NULL THEN")
            .edit(
                "UPDATE lockstep.account",
                "CASE WHEN a\\.version = x\\.version_before AND a\\.balance = x\\.balance_before\\s+AND a\\.pending = x\\.pending_before THEN",
                "CASE WHEN true THEN")
            .edit("FROM lockstep.account", "ORDER BY account FOR UPDATE", "ORDER BY account")
            .schema("ALTER TABLE lockstep.entry DROP CONSTRAINT entry_pkey"),
        Planted.in("ledger", "a lone transfer credits more than it debits")
            .schema(
                move(
                    "balance + CASE account WHEN the_target THEN the_amount",
                    "balance + CASE account WHEN the_target THEN the_amount + 1")),
        Planted.in("ledger", "a lone transfer ignores what is reserved")
            .schema(move("(pending <=", "(0 <="))
            .schema("ALTER TABLE lockstep.account DROP CONSTRAINT never_below_its_floor")
            .schema("ALTER TABLE lockstep.account ADD CHECK (floor IS NULL OR balance >= floor)"),
        Planted.in("ledger", "a lone transfer leaves no trace of itself")
            .schema(
                move("VALUES (the_book, the_transfer,", "VALUES (the_book, gen_random_uuid(),")),
        Planted.in("ledger", "a transfer's id may be used again")
            .schema(
                "DO $x$ BEGIN EXECUTE (SELECT string_agg('ALTER TABLE lockstep.' || relname || ' DROP CONSTRAINT ' || conname || ' CASCADE', ';') FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid WHERE r.oid = 'lockstep.transfer'::regclass AND contype = 'p'); END $x$")
            .edit(
                "lockstep.transfer",
                "EXISTS \\(SELECT FROM lockstep\\.transfer WHERE book = (\\$\\d+) AND transfer = ANY \\((\\$\\d+)\\)\\)",
                "(($1)::text || ($2)::text IS NULL)"),
        Planted.in("ledger", "a pending transfer ends without its compare-and-set, and unlocked")
            .edit(
                "UPDATE lockstep.transfer",
                "CASE WHEN state = 0 THEN (\\$\\d+)::smallint END",
                "($1)::smallint")
            .edit(
                "UPDATE lockstep.transfer", "CASE WHEN t\\.state = 0 THEN x\\.state END", "x.state")
            .edit("FROM lockstep.account", "ORDER BY account FOR UPDATE", "ORDER BY account")
            .edit(
                "UPDATE lockstep.account",
                "CASE WHEN version = (\\$\\d+) AND balance = (\\$\\d+) AND pending = (\\$\\d+) THEN",
                "CASE WHEN ($1)::text || ($2)::text || ($3)::text IS NOT NULL THEN")
            .schema("ALTER TABLE lockstep.entry DROP CONSTRAINT entry_pkey"),
        Planted.in("ledger", "less is posted than was asked for")
            .edit(
                "UPDATE lockstep.transfer",
                "posted = (\\$\\d+)",
                "posted = CASE WHEN ($1)::bigint > 1 THEN ($1)::bigint - 1 ELSE ($1)::bigint END"),
        Planted.in("ledger", "commits are acknowledged before they are durable (ledger)")
            .with(Fault.CRASH)
            .schema(NOT_DURABLE));
  }

  static String sometimes() {
    return SOMETIMES;
  }
}
