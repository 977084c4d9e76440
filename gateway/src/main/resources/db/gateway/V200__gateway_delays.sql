-- What a provider takes its time for: intents that are processing (5), refunds that are not done when they are answered.
ALTER TABLE gateway.intent DROP CONSTRAINT intent_status_check;
ALTER TABLE gateway.intent ADD CONSTRAINT intent_status_check CHECK (status BETWEEN 0 AND 5);

-- 0 succeeded, 1 pending, 2 requires_action, 3 failed, 4 canceled. What failed or was canceled counts as not refunded.
ALTER TABLE gateway.refund ADD COLUMN status smallint NOT NULL DEFAULT 0 CHECK (status BETWEEN 0 AND 4);
