-- When a campaign was published and when its life last changed: owned by dev.lockstep.server.campaign. Not read from
-- campaign_action, which also has a row for each refund.
ALTER TABLE lockstep_server.campaign
  ADD COLUMN published_at timestamptz,
  ADD COLUMN updated_at   timestamptz NOT NULL DEFAULT now();

UPDATE lockstep_server.campaign c
SET published_at = (SELECT min(a.at) FROM lockstep_server.campaign_action a
                    WHERE a.campaign = c.id AND a.action = 'publish'),
    updated_at = coalesce((SELECT max(a.at) FROM lockstep_server.campaign_action a
                           WHERE a.campaign = c.id
                             AND a.action IN ('create', 'publish', 'pause', 'resume', 'close')), c.created_at);
