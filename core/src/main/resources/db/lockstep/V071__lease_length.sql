-- How long a member's lease is from one heartbeat to the end. It tells others that the database's clock was set back since
-- the last heartbeat; NULL: an older version joined.
ALTER TABLE lockstep.shard_member ADD COLUMN lease_ms bigint;
