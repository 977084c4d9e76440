-- The outbox: owned by dev.lockstep.outbox. The partition comes first in every key of a hot table: a
-- key of a stream is in one partition for ever, and a partition has one owner (lockstep.shard).

-- One row: what all nodes agree on.
CREATE TABLE lockstep.outbox_layout (
  only_row   boolean  PRIMARY KEY DEFAULT true CHECK (only_row),
  -- Decided by whoever comes first. Another number would put a key's next event elsewhere.
  partitions smallint NOT NULL CHECK (partitions > 0),
  -- Grows with every change of streams and sinks, and with whatever an operator does.
  version    bigint   NOT NULL DEFAULT 1
) WITH (fillfactor = 50);

CREATE TABLE lockstep.outbox_stream (
  id         integer     GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name       text        NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE lockstep.outbox_sink (
  id         integer     GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  stream     integer     NOT NULL REFERENCES lockstep.outbox_stream,
  name       text        NOT NULL,
  type       text        NOT NULL,
  -- Read by the type: a topic, an address.
  settings   text        NOT NULL,
  -- How long events are kept for a sink that does not take them; NULL: for ever.
  give_up_after interval,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (stream, name)
);

-- The counter of a key. Locked from append to commit, so that a key's sequence is its commit order.
CREATE TABLE lockstep.outbox_key (
  part   smallint NOT NULL,
  stream integer  NOT NULL,
  key    text     NOT NULL COLLATE "C",
  -- Of its last event.
  seq    bigint   NOT NULL,
  ord    xid8     NOT NULL,
  PRIMARY KEY (part, stream, key)
) WITH (fillfactor = 70);

CREATE SEQUENCE lockstep.outbox_event_id;

-- What was appended, in segments by ord: made ahead, dropped whole when every sink is past them.
CREATE TABLE lockstep.outbox_event (
  part         smallint    NOT NULL,
  stream       integer     NOT NULL,
  -- The place in the order of reading: the transaction that appended the event or, if that is
  -- higher, the place of the event before it of the same key. So within a key it never goes back,
  -- although a transaction with a lower id may commit later; and it is never below xid.
  ord          xid8        NOT NULL,
  -- Among events of the same ord. From a sequence, drawn under the key's lock.
  id           bigint      NOT NULL DEFAULT nextval('lockstep.outbox_event_id'),
  -- The transaction that appended it: decides in which snapshots it is visible.
  xid          xid8        NOT NULL,
  key          text        NOT NULL COLLATE "C",
  seq          bigint      NOT NULL,
  type         text        NOT NULL,
  content_type text        NOT NULL,
  -- A line each: "name: value".
  headers      text        NOT NULL,
  data         bytea       NOT NULL,
  -- Of the data, so that a batch can be bounded without reading it.
  bytes        integer     NOT NULL,
  appended_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (part, stream, ord, id)
) PARTITION BY RANGE (ord);
CREATE INDEX outbox_event_key ON lockstep.outbox_event (part, stream, key, seq);
-- Takes what has no segment: transactions went by faster than anybody made segments.
CREATE TABLE lockstep.outbox_event_rest PARTITION OF lockstep.outbox_event DEFAULT;

CREATE TABLE lockstep.outbox_segment (
  segment    integer     PRIMARY KEY,
  from_ord   xid8        NOT NULL,
  to_ord     xid8        NOT NULL,
  made_at    timestamptz NOT NULL,
  -- When it was first seen that nothing more can come.
  closed_at  timestamptz,
  emptied_at timestamptz
);

-- How far a sink is in a partition. Events that are visible in done are behind it. While a step is
-- under way: it goes from done to target, and what comes up to (ord, id) is behind it, too.
CREATE TABLE lockstep.outbox_cursor (
  part       smallint    NOT NULL,
  sink       integer     NOT NULL,
  done       pg_snapshot NOT NULL,
  target     pg_snapshot,
  ord        xid8        NOT NULL,
  id         bigint      NOT NULL,
  -- A replay: of what is visible in replay_to only events from this sequence on.
  replay_seq bigint      NOT NULL DEFAULT 0,
  replay_to  pg_snapshot NOT NULL,
  delivered  bigint      NOT NULL DEFAULT 0,
  -- Grows when an operator sets the cursor: its owner then reads it again.
  version    integer     NOT NULL DEFAULT 1,
  PRIMARY KEY (part, sink)
) WITH (fillfactor = 20); -- one row a sink and partition, updated all the time

-- Keys that a sink's cursor passes by: their events from seq on are read by key instead.
CREATE TABLE lockstep.outbox_parked (
  part      smallint    NOT NULL,
  sink      integer     NOT NULL,
  key       text        NOT NULL COLLATE "C",
  -- The event that is to be sent next, and where it is.
  seq       bigint      NOT NULL,
  ord       xid8        NOT NULL,
  attempts  integer     NOT NULL,
  error     text        NOT NULL,
  -- NULL: parked, until somebody says otherwise.
  retry_at  timestamptz,
  parked_at timestamptz NOT NULL,
  version   integer     NOT NULL DEFAULT 1,
  PRIMARY KEY (part, sink, key)
);

-- What people did to sinks and keys, and what was given up.
CREATE TABLE lockstep.outbox_audit (
  id     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at     timestamptz NOT NULL DEFAULT now(),
  actor  text        NOT NULL,
  action text        NOT NULL,
  stream text        NOT NULL,
  sink   text,
  key    text,
  seq    bigint,
  reason text        NOT NULL
);
CREATE INDEX outbox_audit_stream ON lockstep.outbox_audit (stream, id);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON lockstep.outbox_audit
  FOR EACH ROW EXECUTE FUNCTION lockstep.refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON lockstep.outbox_audit
  FOR EACH STATEMENT EXECUTE FUNCTION lockstep.refuse_change();

-- The consumers' side, in the consumer's own database: the last event of a key that had its effect.
CREATE TABLE lockstep.outbox_inbox (
  consumer text   NOT NULL,
  stream   text   NOT NULL,
  key      text   NOT NULL COLLATE "C",
  seq      bigint NOT NULL,
  PRIMARY KEY (consumer, stream, key)
) WITH (fillfactor = 70);
