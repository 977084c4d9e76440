-- Two thirds of what it takes to write a job are its two indexes; both become cheaper. What is
-- enqueued together is due together and has ids that follow each other, so its entries are
-- neighbours, and what they cost is the way down to them.

-- The newest job is always the last entry, which needs no way down. The shard is in the key, as a
-- distributed table wants it, but not first; whoever looks for a job has both.
ALTER TABLE lockstep.job DROP CONSTRAINT job_pkey, ADD PRIMARY KEY (id, shard);

-- The jobs of a queue and priority, which are read in the order of their due times, by a number of
-- fixed width instead of a name and a number: it is compared at once, and what comes behind it is
-- at a known place. Two queues with the same number would lie among each other; whoever reads asks
-- for the name, too. No two entries are alike, so it would be for nothing to look for such.
DROP INDEX lockstep.job_due;
CREATE INDEX job_due ON lockstep.job (shard, hashtextextended(queue, priority), due, id)
  WITH (deduplicate_items = off);
