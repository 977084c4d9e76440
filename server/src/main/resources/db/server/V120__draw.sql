-- Draws: owned by dev.lockstep.server.draw. No foreign key to the campaign: its check would lock the campaign's row
-- after the pools, and an operator who pauses locks the two the other way round.

-- Who sells the last unit of a layer locks its campaign's row here before looking at the other layers. Without it two
-- nodes could sell the last units of two layers at once, each see the other's layer unsold, and nobody would draw.
CREATE TABLE lockstep_server.draw_gate (
  campaign bigint PRIMARY KEY
);

CREATE TABLE lockstep_server.draw (
  -- One draw a campaign, ever.
  campaign      bigint      PRIMARY KEY,
  algorithm     text        NOT NULL,
  frozen_at     timestamptz NOT NULL,
  -- The canonical list, exactly the text that was hashed.
  entrants      text        NOT NULL,
  entrants_hash bytea       NOT NULL CHECK (length(entrants_hash) = 32),
  -- Of a public source that could not be known when the list was frozen; NULL: none was asked for.
  beacon        bytea       CHECK (length(beacon) = 32),
  winners       jsonb,
  drawn_at      timestamptz,
  CONSTRAINT winners_once_drawn CHECK ((drawn_at IS NULL) = (winners IS NULL)),
  CONSTRAINT beacon_once_drawn CHECK (beacon IS NULL OR drawn_at IS NOT NULL)
);
CREATE INDEX draw_waiting ON lockstep_server.draw (frozen_at) WHERE drawn_at IS NULL;

-- What was drawn stays drawn. A guard against hands, not what keeps the promise: no code of ours tries.
CREATE TRIGGER drawn_for_good BEFORE UPDATE ON lockstep_server.draw
  FOR EACH ROW WHEN (OLD.drawn_at IS NOT NULL) EXECUTE FUNCTION lockstep.refuse_change();
CREATE TRIGGER never_deleted BEFORE DELETE ON lockstep_server.draw
  FOR EACH ROW EXECUTE FUNCTION lockstep.refuse_change();
