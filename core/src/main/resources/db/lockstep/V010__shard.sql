-- Ownership of shards: owned by dev.lockstep.shard. A lease belongs to a node, so that one row is
-- written however many shards the node owns, and so that a heartbeat never meets the locks that
-- fenced writes take on the shards themselves.

-- A group's work is spread over a number of shards that never changes.
CREATE TABLE lockstep.shard_group (
  shard_group text     PRIMARY KEY,
  shards      smallint NOT NULL CHECK (shards > 0)
);

-- A node for as long as it lives. Comes back after a crash or a lost lease as another member.
CREATE TABLE lockstep.shard_member (
  shard_group text        NOT NULL,
  member      uuid        NOT NULL,
  -- For people: host and process, say.
  node        text        NOT NULL,
  -- On its way out: gives away what it owns and gets nothing more.
  leaving     boolean     NOT NULL,
  -- On the database's clock. Passed: anybody may remove the row, and with it the member.
  expires_at  timestamptz NOT NULL,
  PRIMARY KEY (shard_group, member)
) WITH (fillfactor = 50); -- a few rows, each updated every few seconds

CREATE TABLE lockstep.shard (
  shard       smallint NOT NULL,
  shard_group text     NOT NULL,
  -- Grows with every change of owner. What an owner writes holds only while its epoch does.
  epoch       bigint   NOT NULL DEFAULT 0,
  -- NULL: handed over in order, and free. A member that is gone: free too, and its work was cut off.
  owner       uuid,
  PRIMARY KEY (shard, shard_group)
) WITH (fillfactor = 50);
