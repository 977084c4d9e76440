-- The invariant check: owned by dev.lockstep.audit. How far each pool's audit chain has been verified,
-- and the counters it had there. A sequence number of -1 says that the pool was found broken: it is looked
-- at again, from its first audit row, until it is mended.
CREATE TABLE lockstep.audit_mark (
  scope bigint  NOT NULL,
  pool  bigint  NOT NULL,
  seq   bigint  NOT NULL,
  held  integer NOT NULL,
  sold  integer NOT NULL,
  PRIMARY KEY (scope, pool)
);
