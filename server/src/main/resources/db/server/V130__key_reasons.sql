-- Why a key was revoked: owned by dev.lockstep.server.key.
ALTER TABLE lockstep_server.api_key
  ADD COLUMN revoke_reason text,
  ADD CONSTRAINT reason_of_a_revocation CHECK (revoke_reason IS NULL OR revoked_at IS NOT NULL);
