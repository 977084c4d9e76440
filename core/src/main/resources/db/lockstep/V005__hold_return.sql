-- What was sold can come back: state 4 of a hold is returned, cause 5 of the audit says so. A hold leaves 0 once,
-- and 1 at most once, for 4.
ALTER TABLE lockstep.hold DROP CONSTRAINT hold_state_check;
ALTER TABLE lockstep.hold ADD CONSTRAINT hold_state_check CHECK (state BETWEEN 0 AND 4) NOT VALID;
ALTER TABLE lockstep.hold VALIDATE CONSTRAINT hold_state_check;

-- The order in which people page through a scope's holds. New entries go to its end, which is the cheapest
-- place an index has. Over an expression, so that only the statement that pages can use it: to a planner without
-- fresh statistics a hold that is looked up by its id, and one searched for through its scope, cost the same.
CREATE INDEX hold_newest ON lockstep.hold ((scope + 0), created_at, hold);
