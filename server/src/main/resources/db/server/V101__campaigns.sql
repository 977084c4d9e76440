-- Campaigns: owned by dev.lockstep.server.campaign. The id is also the scope of the campaign's stock.
CREATE TABLE lockstep_server.campaign (
  id             bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind           text        NOT NULL CHECK (kind IN ('triangle', 'drop')),
  name           text        NOT NULL,
  currency       text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  purchase_limit integer     CHECK (purchase_limit > 0),
  hold_seconds   integer     NOT NULL CHECK (hold_seconds > 0),
  -- What is sold and what can be won, as it was asked for; never changed.
  layer_prices   bigint[],
  products       jsonb,
  prizes         jsonb       NOT NULL,
  status         text        NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'published', 'closed')),
  -- Secret until the draw; its SHA-256 is published with the campaign.
  seed           bytea       CHECK (length(seed) = 32),
  created_at     timestamptz NOT NULL DEFAULT now(),
  created_by     text        NOT NULL,
  CONSTRAINT stock_of_its_kind CHECK (
    (kind = 'triangle') = (layer_prices IS NOT NULL) AND (kind = 'drop') = (products IS NOT NULL)),
  CONSTRAINT seed_since_publication CHECK (status <> 'published' OR seed IS NOT NULL)
);

-- What operators did to campaigns, and why. Append-only.
CREATE TABLE lockstep_server.campaign_action (
  id       bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  campaign bigint      NOT NULL REFERENCES lockstep_server.campaign,
  action   text        NOT NULL CHECK (action IN ('create', 'publish', 'pause', 'resume', 'close')),
  actor    text        NOT NULL,
  reason   text,
  at       timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX campaign_action_by_campaign ON lockstep_server.campaign_action (campaign, id);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON lockstep_server.campaign_action
  FOR EACH ROW EXECUTE FUNCTION lockstep.refuse_change();
