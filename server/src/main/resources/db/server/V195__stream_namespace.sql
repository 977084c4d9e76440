-- Names this database, the same on all its nodes, to a cluster that other databases publish to as
-- well: whoever uses a name there fences all others that do.
CREATE TABLE lockstep_server.stream_namespace (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  name     text    NOT NULL
);
INSERT INTO lockstep_server.stream_namespace (name) VALUES ('lockstep-' || gen_random_uuid());
