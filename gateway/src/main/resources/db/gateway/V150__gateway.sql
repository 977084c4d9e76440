-- The built-in payment gateway: owned by dev.lockstep.server.gateway, and read by nobody else. It stands
-- for a company of its own: whoever wants to know what is here asks it over HTTP, as one asks Stripe.
CREATE SCHEMA gateway;

-- Ids begin with the time they were made at, so that the index grows at its end and sorts by age.
CREATE TABLE gateway.intent (
  id                  text        COLLATE "C" PRIMARY KEY,
  amount              bigint      NOT NULL CHECK (amount > 0),
  currency            text        NOT NULL,
  -- 0 requires_payment_method, 1 requires_confirmation, 2 requires_action, 3 succeeded, 4 canceled.
  -- Nothing leaves 3 and 4.
  status              smallint    NOT NULL CHECK (status BETWEEN 0 AND 4),
  payment_method      text,
  client_secret       text        NOT NULL,
  description         text,
  metadata            text        NOT NULL,
  error_code          text,
  decline_code        text,
  cancellation_reason text,
  refunded            bigint      NOT NULL DEFAULT 0,
  created_at          timestamptz NOT NULL,
  canceled_at         timestamptz,
  CONSTRAINT refunded_at_most_received CHECK (refunded BETWEEN 0 AND CASE status WHEN 3 THEN amount ELSE 0 END),
  CONSTRAINT canceled_with_time CHECK ((status = 4) = (canceled_at IS NOT NULL))
) WITH (fillfactor = 80);

CREATE TABLE gateway.refund (
  id         text        COLLATE "C" PRIMARY KEY,
  intent     text        COLLATE "C" NOT NULL,
  amount     bigint      NOT NULL CHECK (amount > 0),
  currency   text        NOT NULL,
  reason     text,
  metadata   text        NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX refund_by_intent ON gateway.refund (intent, id);

-- What was answered under an idempotency key, kept for a day. Written in the transaction of the effect.
CREATE TABLE gateway.answer (
  key         text        COLLATE "C" PRIMARY KEY,
  -- The request that was answered first; also tells whether a doubtful commit happened.
  request     text        NOT NULL,
  fingerprint text        NOT NULL,
  status      smallint    NOT NULL,
  body        text        NOT NULL,
  created_at  timestamptz NOT NULL
);
CREATE INDEX answer_by_age ON gateway.answer USING brin (created_at);

-- Webhooks not yet taken by their receiver. A row is written with its effect and deleted when delivered.
CREATE TABLE gateway.webhook (
  event    text        COLLATE "C" PRIMARY KEY,
  type     text        NOT NULL,
  body     text        NOT NULL,
  attempts integer     NOT NULL DEFAULT 0,
  -- When to send it, unless who wrote it already did; infinity: given up.
  due_at   timestamptz NOT NULL
);
CREATE INDEX webhook_due ON gateway.webhook (due_at);
