-- Jobs that are done by callers outside any worker: one row per claim, a lease of its own on the database's clock.
CREATE TABLE lockstep.job_claim (
  shard      smallint    NOT NULL,
  id         uuid        NOT NULL,
  -- Names this lease of the job and no other. What a caller writes holds only while its token does.
  token      uuid        NOT NULL,
  -- Who claimed it; nobody else may end it.
  claimer    text        NOT NULL,
  queue      text        NOT NULL,
  priority   smallint    NOT NULL,
  -- A lane waits for what is claimed, also when the job itself was changed or deleted meanwhile.
  lane       text,
  -- Of the job when it was claimed. Another one since then: somebody has changed the job.
  version    integer     NOT NULL,
  lease_ms   bigint      NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (shard, id)
);
CREATE INDEX job_claim_expiry ON lockstep.job_claim (queue, expires_at);
CREATE INDEX job_claim_lane ON lockstep.job_claim (shard, queue, lane) WHERE lane IS NOT NULL;

-- A queue from which jobs are claimed. Whoever claims locks its row: lanes and the rate are decided by one at a time. So does
-- a worker that begins to serve the queue.
CREATE TABLE lockstep.job_claim_queue (
  queue      text PRIMARY KEY,
  -- When the rate lets the next job begin.
  next_start timestamptz
);

-- Queues that workers serve: nothing of them is claimed as long as such a member lives.
CREATE TABLE lockstep.job_worker_queue (
  queue  text NOT NULL,
  -- Of lockstep.shard_member. One that is gone serves nothing.
  member uuid NOT NULL,
  PRIMARY KEY (queue, member)
);
