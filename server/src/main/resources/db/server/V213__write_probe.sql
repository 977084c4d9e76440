-- One row that every node writes now and then: whether that works is what /readyz says.
CREATE TABLE lockstep_server.write_probe (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  at timestamptz NOT NULL
);

INSERT INTO lockstep_server.write_probe (at) VALUES (now());
