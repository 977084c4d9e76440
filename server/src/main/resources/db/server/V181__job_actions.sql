-- Owned by dev.lockstep.server.job. What was done to jobs, queues and schedules, by whom and why.
CREATE TABLE lockstep_server.job_action (
  id       bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at       timestamptz NOT NULL DEFAULT now(),
  action   text        NOT NULL,
  -- A job, queue or schedule; of many jobs the filter, as JSON.
  subject  text        NOT NULL,
  actor    text        NOT NULL,
  reason   text,
  -- How many jobs it has changed.
  affected integer     NOT NULL
);
