-- Jobs of lanes that run at a node which has handed their shard over. Their lanes wait for them. The job's own row says so, too
-- (keeper), but it may be changed or deleted while the job runs; this row lives as long as the run or the node that runs it.
CREATE TABLE lockstep.job_away (
  shard    smallint NOT NULL,
  id       uuid     NOT NULL,
  -- Of lockstep.shard_member. One that is gone runs nothing: the shard's owner removes the row.
  member   uuid     NOT NULL,
  -- Tells one run of the job from another at the same node.
  run      bigint   NOT NULL,
  queue    text     NOT NULL,
  priority smallint NOT NULL,
  lane     text     NOT NULL,
  PRIMARY KEY (shard, id, member, run)
);
