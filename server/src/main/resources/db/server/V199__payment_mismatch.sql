-- What the payment provider says of a purchase's money and the purchase does not: owned by
-- dev.lockstep.server.purchase. Nothing follows from a row; it is kept so that a person sees it.
CREATE TABLE lockstep_server.payment_mismatch (
  campaign bigint      NOT NULL,
  purchase uuid        NOT NULL,
  -- The payment it was said of, which need not be the purchase's own.
  intent   text        NOT NULL,
  kind     text        NOT NULL,
  -- Only for the order in which they are listed.
  id       bigint      GENERATED ALWAYS AS IDENTITY,
  -- What the provider says of the money, in its currency's minor unit.
  amount   bigint      NOT NULL,
  currency text        NOT NULL,
  -- The event it was said in; NULL: an answer.
  event    text,
  detail   text        NOT NULL,
  noted_at timestamptz NOT NULL,
  PRIMARY KEY (campaign, purchase, intent, kind)
);
CREATE INDEX payment_mismatch_by_age ON lockstep_server.payment_mismatch (id);
