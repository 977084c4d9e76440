-- Idempotency: owned by dev.lockstep.once. One row a key, written in the transaction of its effect.
CREATE TABLE lockstep.once (
  scope       bigint      NOT NULL,
  -- Whose key it is (a principal), so that two clients may use the same key.
  owner       text        NOT NULL,
  key         text        NOT NULL,
  -- SHA-256 of the request: the same key with another request is refused.
  fingerprint bytea       NOT NULL CHECK (length(fingerprint) = 32),
  -- NULL: begun in a transaction that has committed, and not answered yet.
  answer      text,
  created_at  timestamptz NOT NULL,
  expires_at  timestamptz NOT NULL,
  PRIMARY KEY (scope, owner, key)
);
CREATE INDEX once_expiry ON lockstep.once (expires_at);
