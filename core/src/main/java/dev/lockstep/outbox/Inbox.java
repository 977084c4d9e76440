package dev.lockstep.outbox;

import static java.util.Objects.requireNonNull;

import dev.lockstep.outbox.Receipt.Accepted;
import dev.lockstep.outbox.Receipt.Missing;
import dev.lockstep.outbox.Receipt.Repeated;
import dev.lockstep.sql.LockOrder;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Deduplicates on the consumer's side: an event's effect happens once, in the consumer's own
 * transaction and database, however often the event arrives. It also detects missing events.
 *
 * <p>Every method works on the caller's connection and the caller commits, so the receipt and the
 * effect commit together. Locks the keys' rows, in a fixed order, until then. Thread-safe.
 */
public final class Inbox {
  public static final int MAX_BATCH = 10_000;

  // Ensures that there is a row to lock. Waits for a transaction that is inserting the same one.
  private static final String MAKE_ROWS =
      """
      INSERT INTO lockstep.outbox_inbox (consumer, stream, key, seq)
      SELECT ?, x.stream, x.key, 0
      FROM unnest(?::text[], ?::text[]) WITH ORDINALITY x(stream, key, place) ORDER BY x.place
      ON CONFLICT (consumer, stream, key) DO NOTHING""";
  // In array order, the same for every caller.
  private static final String LOCK_ROWS =
      """
      SELECT i.stream, i.key, i.seq
      FROM unnest(?::text[], ?::text[]) WITH ORDINALITY x(stream, key, place)
        JOIN lockstep.outbox_inbox i
          ON i.consumer = ? AND i.stream = x.stream AND i.key = x.key
      ORDER BY x.place FOR UPDATE OF i""";
  private static final String NOTE =
      """
      UPDATE lockstep.outbox_inbox i SET seq = x.seq
      FROM unnest(?::text[], ?::text[], ?::bigint[]) x(stream, key, seq)
      WHERE i.consumer = ? AND i.stream = x.stream AND i.key = x.key""";

  private final Transactor transactor;
  private final String consumer;

  /**
   * @param transactor of the consumer's database, which has Lockstep's tables
   * @param consumer names the consumer; each has its own receipts
   */
  public Inbox(Transactor transactor, String consumer) {
    TextLimits.requireLine("A consumer", consumer, TextLimits.MAX_NAME_LENGTH);
    this.transactor = requireNonNull(transactor, "transactor is null");
    this.consumer = consumer;
  }

  private record Key(String stream, String key) {
    static final Comparator<Key> LOCK_ORDER =
        Comparator.comparing(Key::stream, LockOrder.TEXT).thenComparing(Key::key, LockOrder.TEXT);

    static Key of(ReceivedEvent event) {
      return new Key(event.stream(), event.key());
    }
  }

  /** Records an event. The caller commits. */
  public Receipt receive(Connection connection, ReceivedEvent event) {
    return receiveAll(connection, List.of(requireNonNull(event, "event is null"))).get(0);
  }

  /**
   * Records up to {@link #MAX_BATCH} events, in their order. The caller commits.
   *
   * @return one receipt per event
   */
  public List<Receipt> receiveAll(Connection connection, List<ReceivedEvent> events) {
    requireNonNull(connection, "connection is null");
    if (requireNonNull(events, "events is null").size() > MAX_BATCH) {
      throw new IllegalArgumentException(
          "A call is limited to %d events; use several calls".formatted(MAX_BATCH));
    }
    return events.isEmpty() ? List.of() : transactor.join(connection, c -> decide(c, events));
  }

  /**
   * Sets the next expected event of a key: after a skip on the sending side, or when a consumer
   * starts in the middle. The caller commits.
   */
  public void expect(Connection connection, ReceivedEvent next) {
    transactor.runJoined(
        connection,
        c -> {
          lock(c, List.of(next));
          note(c, Map.of(Key.of(next), next.seq() - 1));
        });
  }

  private List<Receipt> decide(Connection connection, List<ReceivedEvent> events)
      throws SQLException {
    Map<Key, Long> last = lock(connection, events);
    Map<Key, Long> changed = new TreeMap<>(Key.LOCK_ORDER);
    List<Receipt> receipts = new ArrayList<>();
    for (ReceivedEvent event : events) {
      Key key = Key.of(event);
      Receipt receipt = receipt(last.getOrDefault(key, 0L), event.seq());
      if (receipt instanceof Accepted) {
        last.put(key, event.seq());
        changed.put(key, event.seq());
      }
      receipts.add(receipt);
    }
    if (!changed.isEmpty()) {
      note(connection, changed);
    }
    return receipts;
  }

  static Receipt receipt(long last, long seq) {
    if (seq <= last) {
      return new Repeated(last);
    }
    return seq == last + 1 ? new Accepted() : new Missing(last + 1);
  }

  private Map<Key, Long> lock(Connection connection, List<ReceivedEvent> events)
      throws SQLException {
    List<Key> keys = events.stream().map(Key::of).distinct().sorted(Key.LOCK_ORDER).toList();
    SqlArray streams = SqlArray.texts(keys.stream().map(Key::stream).toList());
    SqlArray names = SqlArray.texts(keys.stream().map(Key::key).toList());
    RoundTrip trip = new RoundTrip(connection);
    trip.update(MAKE_ROWS, consumer, streams, names);
    Rows<Map.Entry<Key, Long>> rows =
        trip.query(
            LOCK_ROWS,
            row -> Map.entry(new Key(row.getString(1), row.getString(2)), row.getLong(3)),
            streams,
            names,
            consumer);
    trip.send();
    Map<Key, Long> last = new HashMap<>();
    rows.list().forEach(row -> last.put(row.getKey(), row.getValue()));
    return last;
  }

  private void note(Connection connection, Map<Key, Long> seqs) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(
        NOTE,
        SqlArray.texts(seqs.keySet().stream().map(Key::stream).toList()),
        SqlArray.texts(seqs.keySet().stream().map(Key::key).toList()),
        SqlArray.bigints(seqs.values()),
        consumer);
    trip.send();
  }
}
