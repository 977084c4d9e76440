-- Owned by dev.lockstep.combine: says that a batch was committed, where no other row of it does (all its commands were
-- refused, and a companion wrote for them). Asked for only when the answer to its COMMIT was lost; old ones are taken
-- away by the batches that leave new ones.
CREATE TABLE lockstep.batch_mark (
  -- The shard key of what the batch wrote: a scope of stock, or a book.
  scope bigint      NOT NULL,
  at    timestamptz NOT NULL,
  id    uuid        NOT NULL,
  PRIMARY KEY (scope, at, id)
);
