-- Holds: owned by dev.lockstep.hold. The scope (a campaign, a shop) is the shard key: it comes first
-- in every key, and no statement of a hot path leaves it. No foreign keys between hot tables: the
-- library is the only writer, and the invariant check compares the tables with each other.

CREATE TABLE lockstep.scope (
  scope       bigint PRIMARY KEY,
  -- Units one buyer may have in live holds of this scope; NULL: no limit, and no quota rows are kept.
  buyer_limit integer CHECK (buyer_limit > 0)
);

CREATE TABLE lockstep.pool (
  scope        bigint  NOT NULL,
  pool         bigint  NOT NULL,
  has_units    boolean NOT NULL,
  total        integer NOT NULL CHECK (total >= 0),
  held         integer NOT NULL DEFAULT 0,
  sold         integer NOT NULL DEFAULT 0,
  paused       boolean NOT NULL DEFAULT false,
  pause_reason text,
  -- Every unit of a lower rank has been taken at least once.
  next_rank    integer NOT NULL DEFAULT 0,
  -- The sequence number of the newest row of stock_audit; also what a write compares before it sets.
  audit_seq    bigint  NOT NULL DEFAULT 0,
  PRIMARY KEY (scope, pool),
  CONSTRAINT never_oversold CHECK (held >= 0 AND sold >= 0 AND held + sold <= total),
  CONSTRAINT paused_with_reason CHECK (paused = (pause_reason IS NOT NULL))
) WITH (fillfactor = 25); -- the hottest rows there are: room on the page for their next versions

CREATE TABLE lockstep.unit (
  scope    bigint  NOT NULL,
  pool     bigint  NOT NULL,
  unit     integer NOT NULL,
  -- Position in the shuffle made at creation: the order in which units are given out.
  rank     integer NOT NULL,
  hold     uuid,
  -- Taken once and given back. Changes only then, so that taking a fresh unit touches no index.
  returned boolean NOT NULL DEFAULT false,
  PRIMARY KEY (scope, pool, unit),
  CONSTRAINT returned_is_free CHECK (NOT returned OR hold IS NULL)
) WITH (fillfactor = 45); -- a unit is updated in place (HOT) when it is taken
-- Over expressions, so that only the statement that asks by rank can use it. To a planner without
-- fresh statistics, a unit looked up by its number and one searched for through (scope, pool) cost
-- the same, and it would take the search.
CREATE INDEX unit_by_rank ON lockstep.unit ((scope + 0), (pool + 0), rank);
CREATE INDEX unit_returned ON lockstep.unit (scope, pool, rank) WHERE returned;

CREATE TABLE lockstep.hold (
  scope      bigint      NOT NULL,
  hold       uuid        NOT NULL,
  buyer      text        NOT NULL,
  -- Of buyer and lines as first asked for: tells a repeated acquire from another one with its id.
  fingerprint bigint     NOT NULL,
  -- 0 held, 1 sold, 2 released, 3 expired. Leaves 0 exactly once.
  state      smallint    NOT NULL CHECK (state BETWEEN 0 AND 3),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  ended_at   timestamptz,
  ended_by   text,
  -- The lines of the cart: one element a pool, pools ascending.
  pools      bigint[]    NOT NULL,
  quantities integer[]   NOT NULL,
  -- Its units and, at the same places, their pools; NULL when no line has units.
  unit_pools bigint[],
  units      integer[],
  PRIMARY KEY (scope, hold),
  CONSTRAINT ended_with_time CHECK ((state = 0) = (ended_at IS NULL))
);
CREATE INDEX hold_expiry ON lockstep.hold (scope, expires_at) WHERE state = 0;

CREATE TABLE lockstep.quota (
  scope bigint  NOT NULL,
  buyer text    NOT NULL,
  used  integer NOT NULL CHECK (used >= 0),
  PRIMARY KEY (scope, buyer)
) WITH (fillfactor = 80);

CREATE TABLE lockstep.stock_audit (
  scope       bigint      NOT NULL,
  pool        bigint      NOT NULL,
  seq         bigint      NOT NULL,
  hold        uuid        NOT NULL,
  -- 0 acquired, 1 changed, 2 sold, 3 released, 4 expired
  cause       smallint    NOT NULL,
  actor       text        NOT NULL,
  held_before integer     NOT NULL,
  held_after  integer     NOT NULL,
  sold_before integer     NOT NULL,
  sold_after  integer     NOT NULL,
  at          timestamptz NOT NULL,
  PRIMARY KEY (scope, pool, seq)
);

CREATE FUNCTION lockstep.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
    USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON lockstep.stock_audit
  FOR EACH ROW EXECUTE FUNCTION lockstep.refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON lockstep.stock_audit
  FOR EACH STATEMENT EXECUTE FUNCTION lockstep.refuse_change();
