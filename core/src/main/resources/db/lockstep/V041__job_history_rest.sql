-- What was done on a day that has no partition: none could be made yet, since somebody reads the history (a dump does so for
-- hours). A worker that can not write history can not complete a job. Its rows are removed one by one when they are too old.
CREATE TABLE lockstep.job_history_rest
  (LIKE lockstep.job_history INCLUDING DEFAULTS INCLUDING CONSTRAINTS);
CREATE INDEX job_history_rest_finished ON lockstep.job_history_rest (finished_at);
ALTER TABLE lockstep.job_history ATTACH PARTITION lockstep.job_history_rest DEFAULT;
