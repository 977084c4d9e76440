package dev.lockstep.prove.fault;

import dev.lockstep.testkit.MessageStream.Message;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Makes one COMMIT slow: puts a row before it whose deferred trigger sleeps. Its messages use the
 * same protocol, simple or extended, as the COMMIT.
 */
final class SlowCommit {
  /** For the database of a campaign. */
  static final String SCHEMA =
      """
      CREATE TABLE prove.slow (id int);
      CREATE FUNCTION prove.sleep() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_sleep(0.25);
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON prove.slow
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION prove.sleep();
      """;

  private static final String INSERT = "INSERT INTO prove.slow VALUES (1)";
  private static final String NAME = "prove_slow";

  private SlowCommit() {}

  /** What to send before this COMMIT. */
  static byte[] before(Message commit) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    if (commit.type() == 'Q') {
      out.writeBytes(message('Q', text(INSERT)));
    } else {
      // Names of its own: the unnamed portal may hold the COMMIT already.
      out.writeBytes(message('P', text(NAME), text(INSERT), new byte[2]));
      out.writeBytes(message('B', text(NAME), text(NAME), new byte[6]));
      out.writeBytes(message('E', text(NAME), new byte[4]));
    }
    return out.toByteArray();
  }

  private static byte[] text(String text) {
    return (text + "\0").getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] message(char type, byte[]... parts) {
    int length = Integer.BYTES;
    for (byte[] part : parts) {
      length += part.length;
    }
    ByteBuffer message = ByteBuffer.allocate(1 + length).put((byte) type).putInt(length);
    for (byte[] part : parts) {
      message.put(part);
    }
    return message.array();
  }
}
