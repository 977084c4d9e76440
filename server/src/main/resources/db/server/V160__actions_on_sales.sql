-- What operators do to what was sold or held of a campaign is recorded with the rest: owned by dev.lockstep.server.campaign.
ALTER TABLE lockstep_server.campaign_action
  ADD COLUMN subject text,
  DROP CONSTRAINT campaign_action_action_check,
  ADD CONSTRAINT campaign_action_action_check
    CHECK (action IN ('create', 'publish', 'pause', 'resume', 'close', 'release', 'refund')),
  ADD CONSTRAINT subject_of_an_action CHECK ((action IN ('release', 'refund')) = (subject IS NOT NULL));
