-- The jobs of one lane, in order. A lane with many jobs waiting is read by itself, a few jobs at a time, instead of
-- through all that is due in its queue. Jobs without a lane are not in it and cost nothing here.
CREATE INDEX job_lane ON lockstep.job
    (shard, hashtextextended(lane, hashtextextended(queue, priority)), due, id)
  WITH (deduplicate_items = off) WHERE lane IS NOT NULL;
