-- Long checks that go on in slices: owned by dev.lockstep.server.duty. Who goes on with one, until when nobody else
-- may, and where it is. A lease and not a lock: a pooler may stand between, and two at once would do no harm.
CREATE TABLE lockstep_server.duty_state (
  name   text        COLLATE "C" PRIMARY KEY,
  holder text        NOT NULL,
  until  timestamptz NOT NULL,
  state  text        NOT NULL
);
