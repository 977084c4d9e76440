-- Keys: owned by dev.lockstep.server.key.
CREATE TABLE lockstep_server.api_key (
  id         text        PRIMARY KEY,
  -- SHA-256 of the key. A key has 256 random bits, so there is nothing to guess or to precompute, and a slow
  -- password hash would only make every request slow.
  hash       bytea       NOT NULL UNIQUE CHECK (length(hash) = 32),
  -- The key's first characters, so that people can tell their keys apart.
  prefix     text        NOT NULL,
  role       text        NOT NULL CHECK (role IN ('operator', 'service', 'buyer')),
  name       text        NOT NULL,
  buyer      text,
  created_at timestamptz NOT NULL DEFAULT now(),
  created_by text        NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  revoked_by text,
  CONSTRAINT buyer_of_a_buyer_key CHECK ((role = 'buyer') = (buyer IS NOT NULL)),
  CONSTRAINT revoked_by_somebody CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);
CREATE INDEX api_key_by_age ON lockstep_server.api_key (created_at, id);
