package dev.lockstep.outbox;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.tx.Transactor;
import java.util.ArrayList;
import java.util.List;

/** What one would write first: go on after the highest id so far. */
final class IdSource implements EventSource {
  private static final String AFTER =
      """
      SELECT 0, id, ord::text, key, seq, type, content_type, headers, data, appended_at
      FROM lockstep.outbox_event WHERE part = ? AND stream = ? AND id > ? ORDER BY id LIMIT ?""";

  private final Transactor transactor;
  private final EventSource rest;

  IdSource(Transactor transactor) {
    this.transactor = transactor;
    this.rest = new SnapshotSource(transactor);
  }

  @Override
  public Look look(List<Ask> asks, int maxRows, int maxBytes) {
    List<Batch> batches = new ArrayList<>();
    for (Ask ask : asks) {
      List<Read> rows =
          transactor.call(
              connection -> {
                RoundTrip trip = new RoundTrip(connection);
                Rows<Read> found =
                    trip.query(
                        AFTER,
                        row -> new Read(SnapshotSource.event(row, ask.streamName()), "0"),
                        ask.part(),
                        ask.stream(),
                        ask.from().id(),
                        maxRows);
                trip.send();
                return found.list();
              });
      long last = rows.isEmpty() ? ask.from().id() : rows.get(rows.size() - 1).event().id();
      batches.add(new Batch(rows, new Position("1:1:", null, "0", last, 0, "1:1:")));
    }
    Look look = rest.look(List.of(), 1, 1);
    return new Look(look.incarnation(), look.version(), batches);
  }

  @Override
  public Backlog backlog(Ask ask, List<KeyAsk> keys, int maxRows, int maxBytes) {
    return rest.backlog(ask, keys, maxRows, maxBytes);
  }
}
