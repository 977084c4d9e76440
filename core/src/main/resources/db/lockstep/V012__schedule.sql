-- Schedules: owned by dev.lockstep.job. What recurs, and how far it has come. At its next time a job of
-- the library's own, the tick, turns each due occurrence into a job and sets the next tick, all in the
-- transaction that completes it.
CREATE TABLE lockstep.job_schedule (
  shard        smallint    NOT NULL,
  id           uuid        NOT NULL,
  name         text        NOT NULL,
  -- How it recurs, in the words of whoever reads it.
  spec         text        NOT NULL,
  queue        text        NOT NULL,
  kind         text        NOT NULL,
  payload      json        NOT NULL,
  max_attempts smallint    NOT NULL,
  -- 0 all, 1 latest, 2 none
  catch_up     smallint    NOT NULL,
  -- Occurrences up to here are done with.
  done_until   timestamptz NOT NULL,
  -- Which period (a year, a local time) the last run belonged to; an edit never runs it again.
  last_period  text,
  -- NULL: never again.
  next_at      timestamptz,
  tick         uuid,
  version      integer     NOT NULL DEFAULT 1,
  PRIMARY KEY (shard, id)
);
