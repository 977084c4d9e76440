-- What was sold can come back in parts, each with an audit row of cause 5. The check of a large scope adds up the parts of
-- a hold; sales do not pay for this index.
CREATE INDEX stock_returned ON lockstep.stock_audit (scope, pool, hold) WHERE cause = 5;
