-- Reconciliation of money and goods: owned by dev.lockstep.server.reconciliation. It only reads the tables of others.

-- How far the stock changes of each pool have been compared with their purchases. A pool's sequence numbers are given out
-- under its lock and without gap, so nothing can commit below a number that was seen.
CREATE TABLE lockstep_server.reconciliation_mark (
  campaign bigint NOT NULL,
  pool     bigint NOT NULL,
  seq      bigint NOT NULL,
  PRIMARY KEY (campaign, pool)
);

-- What does not agree. A row is removed when it agrees again.
CREATE TABLE lockstep_server.reconciliation_finding (
  -- 0: of a payment that no campaign knows.
  campaign bigint      NOT NULL,
  kind     text        COLLATE "C" NOT NULL,
  -- The purchase, hold, payment or refund it is about.
  subject  text        COLLATE "C" NOT NULL,
  purchase text,
  hold     text,
  buyer    text        NOT NULL,
  payment  text,
  amount   bigint      NOT NULL,
  currency text        NOT NULL,
  since    timestamptz NOT NULL,
  detail   text        NOT NULL,
  found_at timestamptz NOT NULL,
  -- When it was last seen; those seen longest ago are looked at first.
  seen_at  timestamptz NOT NULL,
  -- The campaign was paused for it, where that is due. Once: an operator who resumes has seen it.
  acted    boolean     NOT NULL,
  PRIMARY KEY (campaign, kind, subject)
);
CREATE INDEX reconciliation_finding_seen ON lockstep_server.reconciliation_finding (seen_at);
CREATE INDEX reconciliation_finding_unacted ON lockstep_server.reconciliation_finding (found_at) WHERE NOT acted;

-- Payments and refunds of the provider that have to be looked at once more: not finished there, or not agreeing with the
-- purchase the last time.
CREATE TABLE lockstep_server.provider_look (
  object   text        COLLATE "C" PRIMARY KEY,
  -- The payment that a refund gives back; NULL: the object is the payment.
  payment  text,
  -- The purchase, if the provider says for which it was made.
  purchase text,
  first_at timestamptz NOT NULL,
  due_at   timestamptz NOT NULL,
  looks    integer     NOT NULL DEFAULT 0
);
CREATE INDEX provider_look_due ON lockstep_server.provider_look (due_at);
