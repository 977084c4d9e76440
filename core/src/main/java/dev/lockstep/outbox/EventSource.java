package dev.lockstep.outbox;

import dev.lockstep.tx.LockstepException;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads what is new, in an order in which a key's events never go back, and says how far that is.
 * An interface of its own because {@link SnapshotSource} compares transaction ids of one server; a
 * database spread over several would need another, a counter for each partition perhaps.
 */
interface EventSource {

  /** Where to go on reading, and for which stream. */
  record Ask(short part, int stream, String streamName, Position from) {}

  /**
   * An event and its place.
   *
   * @param ord as in {@link Position}
   */
  record Read(Event event, String ord) {}

  /**
   * What there was for an ask.
   *
   * @param after the position behind these
   */
  record Batch(List<Read> rows, Position after) {}

  /**
   * What there was for all asks.
   *
   * @param incarnation of the server that answered; empty: one that nobody has named yet. Under
   *     another than that of the positions in the asks, the answer means nothing
   * @param version of the layout
   * @param batches in the order of the asks
   */
  record Look(String incarnation, long version, List<Batch> batches) {
    /** With another look's, which follow; of two servers' answers nothing can be said. */
    Look and(Look other) {
      List<Batch> all = new ArrayList<>(batches);
      all.addAll(other.batches);
      return new Look(
          incarnation.equals(other.incarnation) ? incarnation : "",
          Math.max(version, other.version),
          all);
    }
  }

  /**
   * One question about all of them, whatever their number. Those with nothing left have the same
   * position afterwards.
   *
   * @param maxRows for each ask
   * @param maxBytes for each ask, of content; one event is read however large it is
   */
  Look look(List<Ask> asks, int maxRows, int maxBytes) throws LockstepException;

  /** Events of a key from a sequence on. */
  record KeyAsk(String key, long seq, String ord) {}

  /**
   * Events of some keys.
   *
   * @param incarnation as in {@link Look}
   */
  record Backlog(String incarnation, List<Read> rows) {}

  /**
   * The events of keys, in their order, up to a position at which no step is under way.
   *
   * @param ask whose stream, partition and position
   * @param maxRows for each key
   * @param maxBytes of all
   */
  Backlog backlog(Ask ask, List<KeyAsk> keys, int maxRows, int maxBytes) throws LockstepException;
}
