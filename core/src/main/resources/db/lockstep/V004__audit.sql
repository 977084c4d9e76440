-- The invariant check: owned by dev.lockstep.audit. How far each pool's audit chain has been verified,
-- and the counters it had there.
CREATE TABLE lockstep.audit_mark (
  scope bigint  NOT NULL,
  pool  bigint  NOT NULL,
  seq   bigint  NOT NULL,
  held  integer NOT NULL,
  sold  integer NOT NULL,
  PRIMARY KEY (scope, pool)
);
