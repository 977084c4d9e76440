package dev.lockstep.outbox;

import dev.lockstep.testkit.TestDatabase;

/** Uses up the segments of an outbox by using up transaction ids, as a busy database would. */
final class SegmentWear {
  /** Transaction ids per segment. */
  static final int WIDTH = 100;

  private final TestDatabase database;

  SegmentWear(TestDatabase database) {
    this.database = database;
  }

  void burn(long transactions) {
    database.execute(
        """
        DO $$ BEGIN
          FOR i IN 1..%d LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP;
        END $$"""
            .formatted(transactions));
  }

  /** Transactions until the segments are used up; those to come before the first count, too. */
  long left() {
    return database.queryLong(
        """
        SELECT max(to_ord::text::bigint) - max(pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
          + 1000 * (count(*) FILTER (WHERE from_ord <= pg_snapshot_xmax(pg_current_snapshot())) = 0)::int
        FROM lockstep.outbox_segment""");
  }

  /** Goes on until the current transactions write to a segment. */
  void reachASegment(Outbox outbox) {
    outbox.maintain();
    while (left() < WIDTH || left() > 2 * WIDTH) {
      burn(WIDTH / 4);
      outbox.maintain();
    }
  }

  /** Lets everything so far be in segments to which nothing more can come. */
  void closeSegments(Outbox outbox) {
    for (int i = 0; i < 14; i++) {
      burn(WIDTH / 4);
      outbox.maintain();
    }
  }
}
