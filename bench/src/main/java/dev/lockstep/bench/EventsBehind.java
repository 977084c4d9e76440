package dev.lockstep.bench;

import dev.lockstep.outbox.Outbox;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;

/**
 * Fills a stream with events that were delivered long ago, as far as a sink that begins now knows.
 */
final class EventsBehind {
  static final long COUNT = 10_000_000;
  private static final long CHUNK = 500_000;
  private static final int KEYS = 1_000;
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(150);

  private EventsBehind() {}

  /** As many as can be written in two and a half minutes. */
  static long seed(BenchDatabase database, Outbox outbox, String stream) throws SQLException {
    long id =
        database.number("SELECT id FROM lockstep.outbox_stream WHERE name = '" + stream + "'");
    long startedNanos = System.nanoTime();
    long written = 0;
    while (written < COUNT && System.nanoTime() - startedNanos < MAX_NANOS) {
      Progress.say("%,d of %,d events behind", written, COUNT);
      outbox.maintain();
      database.execute(
          """
          INSERT INTO lockstep.outbox_event
            (part, stream, ord, xid, key, seq, type, content_type, headers, data, bytes)
          SELECT n %% %1$d %% %2$d, %3$d, pg_current_xact_id(), pg_current_xact_id(),
            'behind-' || n %% %1$d, n / %1$d + 1, 't', 'text/plain', '', '', 0
          FROM generate_series(%4$d, %5$d) n"""
              .formatted(KEYS, outbox.config().partitions(), id, written, written + CHUNK - 1));
      written += CHUNK;
    }
    database.execute("ANALYZE lockstep.outbox_event");
    return written;
  }
}
