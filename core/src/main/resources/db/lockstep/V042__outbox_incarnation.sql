-- The outbox's cursors compare transaction ids, which mean something on one server only, and in a relay's memory only until
-- that server crashes: ids that never reached the log are given out again. Two things tell when they have lost their meaning.

-- The incarnation of the server. Emptied by every crash and by every promotion of a standby, as all unlogged tables are; void
-- when the server was started again. Whoever finds no row that is valid writes a new one. What a relay has seen under another
-- token it forgets, and nothing that it knows from then is written.
CREATE UNLOGGED TABLE lockstep.outbox_incarnation (
  only_row   boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
  token      uuid        NOT NULL,
  started_at timestamptz NOT NULL -- pg_postmaster_start_time()
);

-- Whether the rows were written here. Each mark is the id of the transaction that wrote its row: true after any physical copy,
-- false after a dump was restored. The first row was written under the higher id, as a transaction's parts have higher ids than
-- the transaction; a restore writes both under one id, or the second under the higher one, so it never makes both marks true.
CREATE TABLE lockstep.outbox_home (
  place smallint PRIMARY KEY,
  mark  xid      NOT NULL
);

CREATE FUNCTION lockstep.outbox_settle() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM lockstep.outbox_home;
  BEGIN
    -- A block that catches something is a part of the transaction, with an id of its own.
    INSERT INTO lockstep.outbox_home (place, mark) VALUES (1, '0');
    UPDATE lockstep.outbox_home SET mark = xmin WHERE place = 1;
  EXCEPTION WHEN division_by_zero THEN
    RAISE;
  END;
  INSERT INTO lockstep.outbox_home (place, mark) VALUES (2, '0');
  UPDATE lockstep.outbox_home SET mark = xmin WHERE place = 2;
END $$;

-- A database that was restored from a dump before this migration shows by ids that are still to come. It is left without marks,
-- and the first that uses the outbox puts it right.
DO $$
DECLARE
  next xid8 := pg_snapshot_xmax(pg_current_snapshot());
BEGIN
  IF NOT EXISTS (SELECT 1 FROM lockstep.outbox_cursor WHERE pg_snapshot_xmax(done) > next OR pg_snapshot_xmax(replay_to) > next)
    AND NOT EXISTS (SELECT 1 FROM lockstep.outbox_key WHERE ord >= next)
    AND NOT EXISTS (SELECT 1 FROM lockstep.outbox_event WHERE ord >= next)
  THEN
    PERFORM lockstep.outbox_settle();
  END IF;
END $$;

-- The transaction that made the stream: what only that one can see must not be remembered by others.
ALTER TABLE lockstep.outbox_stream ADD COLUMN made_in xid8 NOT NULL DEFAULT '0';
ALTER TABLE lockstep.outbox_stream ALTER COLUMN made_in SET DEFAULT pg_current_xact_id();

-- How many orders of operators a sink has had in a partition: its owner reads that one place again. A table of its own, so
-- that an operator's open transaction never holds up the owner, who updates the cursors all the time.
CREATE TABLE lockstep.outbox_order (
  part   smallint NOT NULL,
  sink   integer  NOT NULL,
  orders bigint   NOT NULL,
  PRIMARY KEY (part, sink)
);
