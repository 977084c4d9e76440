-- Purchases that the timer cannot go on with: a row that it cannot read, or a step that fails for a reason of its own.
-- Owned by dev.lockstep.server.purchase. A row is removed when a step succeeds, or the purchase has ended otherwise.
CREATE TABLE lockstep_server.purchase_set_aside (
  campaign bigint      NOT NULL,
  id       uuid        NOT NULL,
  reason   text        NOT NULL,
  first_at timestamptz NOT NULL,
  last_at  timestamptz NOT NULL,
  PRIMARY KEY (campaign, id)
);

-- A bank may send a refund back weeks after the provider has made it: those of the last weeks are looked at over and over.
CREATE INDEX purchase_refunded ON lockstep_server.purchase (changed_at, campaign, id) WHERE status = 6;
