-- When a job was first to run. A retry moves "due"; a handler must still learn the occurrence it works for. NULL: "due" is it.
ALTER TABLE lockstep.job ADD COLUMN planned timestamptz;
ALTER TABLE lockstep.job_dead ADD COLUMN planned timestamptz;
