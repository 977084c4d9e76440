-- Jobs: owned by dev.lockstep.job. The shard comes first in every key. Only live jobs are here: one
-- that is done is deleted, so that the table stays as small as the work that is left.
CREATE TABLE lockstep.job (
  shard      smallint    NOT NULL,
  id         uuid        NOT NULL,
  queue      text        NOT NULL,
  -- 0 high, 1 normal, 2 low
  priority   smallint    NOT NULL,
  -- When it is to run. With a lane it is also its place in the lane, and does not change with a retry.
  due        timestamptz NOT NULL,
  -- Not before this, although it is due: a retry or snooze of a job that keeps its place in a lane.
  wait_until timestamptz,
  kind       text        NOT NULL,
  payload    json        NOT NULL,
  -- Jobs with the same lane run at most so many at a time.
  lane       text,
  lane_limit smallint,
  unique_key text,
  max_attempts smallint  NOT NULL,
  -- Failed attempts so far; the running one is not counted.
  attempts   smallint    NOT NULL DEFAULT 0,
  -- How often it may have been what its worker died of.
  crashes    smallint    NOT NULL DEFAULT 0,
  -- The member (of lockstep.shard_member) that is running it, where that is written down at all.
  keeper     uuid,
  version    integer     NOT NULL DEFAULT 1,
  PRIMARY KEY (shard, id),
  CONSTRAINT lane_with_limit CHECK ((lane IS NULL) = (lane_limit IS NULL))
);
CREATE INDEX job_due ON lockstep.job (shard, queue, priority, due, id);

-- Which job has a unique key: until it ends, or until the end of the period.
CREATE TABLE lockstep.job_unique (
  shard      smallint    NOT NULL,
  queue      text        NOT NULL,
  unique_key text        NOT NULL,
  id         uuid        NOT NULL,
  created_at timestamptz NOT NULL,
  -- NULL: as long as the job is live.
  expires_at timestamptz,
  PRIMARY KEY (shard, queue, unique_key)
);
CREATE INDEX job_unique_expiry ON lockstep.job_unique (expires_at) WHERE expires_at IS NOT NULL;

-- Attempts that failed, of live and dead jobs. Gone when the job is done.
CREATE TABLE lockstep.job_attempt (
  shard   smallint    NOT NULL,
  id      uuid        NOT NULL,
  attempt smallint    NOT NULL,
  at      timestamptz NOT NULL,
  error   text        NOT NULL,
  PRIMARY KEY (shard, id, attempt)
);

-- Jobs that will not run again unless somebody says so.
CREATE TABLE lockstep.job_dead (
  shard      smallint    NOT NULL,
  id         uuid        NOT NULL,
  queue      text        NOT NULL,
  priority   smallint    NOT NULL,
  due        timestamptz NOT NULL,
  kind       text        NOT NULL,
  payload    json        NOT NULL,
  lane       text,
  lane_limit smallint,
  max_attempts smallint  NOT NULL,
  attempts   smallint    NOT NULL,
  crashes    smallint    NOT NULL,
  reason     text        NOT NULL,
  died_at    timestamptz NOT NULL,
  version    integer     NOT NULL,
  PRIMARY KEY (shard, id)
);

-- A row only for a queue that is not as it comes: paused, or limited.
CREATE TABLE lockstep.job_queue (
  queue      text PRIMARY KEY,
  paused     boolean NOT NULL DEFAULT false,
  -- Starts a second, over all nodes; NULL: as many as there are.
  rate_limit double precision CHECK (rate_limit > 0)
);

-- What was done, when it is kept: a partition a day (UTC), made ahead and dropped whole.
CREATE TABLE lockstep.job_history (
  shard       smallint    NOT NULL,
  id          uuid        NOT NULL,
  queue       text        NOT NULL,
  kind        text        NOT NULL,
  payload     json        NOT NULL,
  attempts    smallint    NOT NULL,
  due         timestamptz NOT NULL,
  finished_at timestamptz NOT NULL,
  PRIMARY KEY (shard, id, finished_at)
) PARTITION BY RANGE (finished_at);
