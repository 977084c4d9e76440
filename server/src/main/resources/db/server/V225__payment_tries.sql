-- A declined card keeps the hold, and the buyer tries another one: owned by dev.lockstep.server.purchase. The status 7 is
-- "requires payment method".
ALTER TABLE lockstep_server.purchase
  DROP CONSTRAINT purchase_status_check,
  ADD CONSTRAINT purchase_status_check CHECK (status BETWEEN 0 AND 7),
  -- The number of the newest try, counted from 1; what is heard of an earlier one changes nothing.
  ADD COLUMN try_no       smallint NOT NULL DEFAULT 1,
  -- When that try began; NULL: with the purchase.
  ADD COLUMN tried_at     timestamptz,
  -- The tries that failed, with time and reason, as they are shown.
  ADD COLUMN failed_tries text,
  -- What the requests of later tries were answered, by number; the first one's is in "answer".
  ADD COLUMN try_answers  jsonb    NOT NULL DEFAULT '{}';

DROP INDEX lockstep_server.purchase_due;
CREATE INDEX purchase_due ON lockstep_server.purchase (due_at) WHERE status IN (0, 1, 5, 7);
