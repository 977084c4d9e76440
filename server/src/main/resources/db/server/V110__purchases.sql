-- Purchases: owned by dev.lockstep.server.purchase. The campaign is the shard key and comes first in every key.
-- A row is written in the transaction that takes (or keeps) its hold, and every later step of an unfinished
-- purchase under the lock of that hold.
CREATE TABLE lockstep_server.purchase (
  campaign       bigint      NOT NULL,
  -- Also the id of the hold it began with: a hold is paid for once.
  id             uuid        NOT NULL,
  -- What it has now: another hold than the first when it was paid too late and got other goods.
  hold           uuid        NOT NULL,
  buyer          text        NOT NULL,
  -- 0 pending, 1 requires action, 2 completed, 3 failed, 4 expired, 5 refunding, 6 refunded
  status         smallint    NOT NULL CHECK (status BETWEEN 0 AND 6),
  amount         bigint      NOT NULL CHECK (amount > 0),
  currency       text        NOT NULL,
  -- The lines with prices and positions, as they are shown.
  items          text        NOT NULL,
  payment_method text        NOT NULL,
  intent         text,
  client_secret  text,
  failure        text,
  refund         text,
  -- When we learned that the money is there.
  paid_at        timestamptz,
  -- Its time is up: the payment is being canceled, and nothing else is begun.
  expiring       boolean     NOT NULL DEFAULT false,
  -- What the request that made it was answered; a repetition gets the same.
  answer         text,
  created_by     text        NOT NULL,
  created_at     timestamptz NOT NULL,
  changed_at     timestamptz NOT NULL,
  -- Until when it may be paid.
  deadline       timestamptz NOT NULL,
  -- When somebody has to look after it if nothing happened until then; pushing it is how a node takes it.
  due_at         timestamptz NOT NULL,
  looks          integer     NOT NULL DEFAULT 0,
  PRIMARY KEY (campaign, id),
  CONSTRAINT goods_for_money CHECK (status NOT IN (2, 5, 6) OR paid_at IS NOT NULL)
) WITH (fillfactor = 70);
CREATE INDEX purchase_due ON lockstep_server.purchase (due_at) WHERE status IN (0, 1, 5);
CREATE INDEX purchase_by_age ON lockstep_server.purchase (created_at, campaign, id);
CREATE INDEX purchase_by_buyer ON lockstep_server.purchase (buyer, created_at, campaign, id);
-- The few that got other goods than they asked for.
CREATE INDEX purchase_replaced ON lockstep_server.purchase (campaign, hold) WHERE hold <> id;

-- Events of the payment provider that have been acted upon; each counts once.
CREATE TABLE lockstep_server.payment_event (
  campaign    bigint      NOT NULL,
  event       text        NOT NULL,
  received_at timestamptz NOT NULL,
  PRIMARY KEY (campaign, event)
);
CREATE INDEX payment_event_by_age ON lockstep_server.payment_event USING brin (received_at);
