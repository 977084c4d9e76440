-- How often a buyer may extend a hold, each time by hold_seconds at most, and how long it may last in all.
ALTER TABLE lockstep_server.campaign
  ADD COLUMN max_extensions integer NOT NULL DEFAULT 1 CHECK (max_extensions BETWEEN 0 AND 100),
  ADD COLUMN max_hold_seconds integer;
UPDATE lockstep_server.campaign SET max_hold_seconds = least(2 * hold_seconds, 172800);
ALTER TABLE lockstep_server.campaign
  ALTER COLUMN max_hold_seconds SET NOT NULL,
  ADD CONSTRAINT held_for_as_long_at_least CHECK (max_hold_seconds >= hold_seconds);
