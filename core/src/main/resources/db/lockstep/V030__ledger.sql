-- The ledger: owned by dev.lockstep.ledger. The book is the shard key: it comes first in every key, and a transfer
-- never leaves it. No foreign keys between hot tables: the library is their only writer, and the ledger's own
-- check compares them with each other.

CREATE TABLE lockstep.book (
  book bigint PRIMARY KEY
);

CREATE TABLE lockstep.account (
  book       bigint      NOT NULL,
  account    bigint      NOT NULL,
  name       text        NOT NULL,
  currency   text        NOT NULL,
  -- What balance less pending may not go below: 0, a credit line as a negative number; NULL: no floor.
  floor      bigint      CHECK (floor <= 0),
  balance    bigint      NOT NULL DEFAULT 0,
  -- Reserved by pending transfers that leave this account.
  pending    bigint      NOT NULL DEFAULT 0 CHECK (pending >= 0),
  -- The version of the newest entry; also what a write compares before it sets.
  version    bigint      NOT NULL DEFAULT 0 CHECK (version >= 0),
  created_at timestamptz NOT NULL,
  -- Never goes back, whatever the clock does: an account's entries are in the order of their times.
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (book, account),
  CONSTRAINT never_below_its_floor CHECK (floor IS NULL OR balance - pending >= floor)
) WITH (fillfactor = 50); -- hot rows: room on the page for their next versions

CREATE TABLE lockstep.transfer (
  book       bigint      NOT NULL,
  transfer   uuid        NOT NULL,
  source     bigint      NOT NULL,
  target     bigint      NOT NULL,
  amount     bigint      NOT NULL CHECK (amount > 0),
  -- What really moved: all of it or a part.
  posted     bigint      NOT NULL CHECK (posted BETWEEN 0 AND amount),
  -- 0 pending, 1 posted, 2 voided, 3 expired. Leaves 0 exactly once.
  state      smallint    NOT NULL CHECK (state BETWEEN 0 AND 3),
  created_at timestamptz NOT NULL,
  -- NULL: posted at once, never pending.
  expires_at timestamptz,
  ended_at   timestamptz,
  PRIMARY KEY (book, transfer),
  CONSTRAINT from_one_to_another CHECK (source <> target),
  CONSTRAINT ended_with_time CHECK ((state = 0) = (ended_at IS NULL)),
  CONSTRAINT pending_with_expiry CHECK (state = 1 OR expires_at IS NOT NULL),
  CONSTRAINT posted_moves_something CHECK ((state = 1) = (posted > 0))
);
CREATE INDEX transfer_expiry ON lockstep.transfer (book, expires_at) WHERE state = 0;

CREATE TABLE lockstep.entry (
  book     bigint      NOT NULL,
  account  bigint      NOT NULL,
  -- 1, 2, 3 … without gap within the account.
  version  bigint      NOT NULL,
  transfer uuid        NOT NULL,
  -- 0 moved, 1 reserved, 2 posted, 3 voided, 4 expired
  kind     smallint    NOT NULL,
  -- What the balance changed by; the entries of a transfer add up to nothing.
  amount   bigint      NOT NULL,
  -- The account right after.
  balance  bigint      NOT NULL,
  pending  bigint      NOT NULL,
  at       timestamptz NOT NULL,
  PRIMARY KEY (book, account, version)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON lockstep.entry
  FOR EACH ROW EXECUTE FUNCTION lockstep.refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON lockstep.entry
  FOR EACH STATEMENT EXECUTE FUNCTION lockstep.refuse_change();

-- How far each account's entries have been verified, and what the account had there.
CREATE TABLE lockstep.ledger_mark (
  book    bigint NOT NULL,
  account bigint NOT NULL,
  version bigint NOT NULL,
  balance bigint NOT NULL,
  pending bigint NOT NULL,
  PRIMARY KEY (book, account)
);
