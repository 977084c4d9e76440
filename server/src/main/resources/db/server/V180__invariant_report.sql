-- The latest report of the invariant check: owned by dev.lockstep.server.invariant. One node checks, all show it.
CREATE TABLE lockstep_server.invariant_report (
  one        boolean PRIMARY KEY CHECK (one),
  checked_at timestamptz NOT NULL,
  report     text        NOT NULL
);
