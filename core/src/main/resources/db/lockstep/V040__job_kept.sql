-- Jobs whose rows say that a node runs them: few, and looked for by whoever gets their shard. They
-- may run under an earlier lease, and their lanes wait for them, wherever in the shard they are.
CREATE INDEX job_kept ON lockstep.job (shard) WHERE keeper IS NOT NULL;
