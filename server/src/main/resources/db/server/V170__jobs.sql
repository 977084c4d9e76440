-- Owned by dev.lockstep.server.delivery. What receivers' secrets are derived from, unless the
-- configuration says: made at the first start, the same for all nodes.
CREATE TABLE lockstep_server.webhook_secret (
  only_one boolean     PRIMARY KEY DEFAULT true CHECK (only_one),
  secret   bytea       NOT NULL CHECK (length(secret) >= 32),
  made_at  timestamptz NOT NULL DEFAULT now()
);

-- Owned by dev.lockstep.server.job. Why a queue was paused, for people; that it is paused is in
-- lockstep.job_queue.
CREATE TABLE lockstep_server.queue_pause (
  queue     text        PRIMARY KEY,
  reason    text,
  paused_by text        NOT NULL,
  paused_at timestamptz NOT NULL DEFAULT now()
);
