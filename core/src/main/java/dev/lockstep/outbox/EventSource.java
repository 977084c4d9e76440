package dev.lockstep.outbox;

import dev.lockstep.fault.LockstepException;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads new events in an order in which a key's events never go back, and returns the position
 * reached. It is an interface because {@link SnapshotSource} compares transaction ids of one
 * server; a database spread over several servers would need another implementation, perhaps a
 * counter per partition.
 */
interface EventSource {

  /** A stream, a partition of it, and where to continue reading. */
  record ReadRequest(short part, int stream, String streamName, CursorPosition from) {}

  /**
   * An event and its position.
   *
   * @param ord as in {@link CursorPosition}
   */
  record ReadEvent(Event event, String ord) {}

  /**
   * The events for one request.
   *
   * @param after the position after these events
   */
  record Batch(List<ReadEvent> rows, CursorPosition after) {}

  /**
   * The events for all requests.
   *
   * @param incarnation of the server that answered; empty: not named yet. The answer is meaningless
   *     unless it equals the incarnation of the requests' positions
   * @param version of the layout
   * @param batches in the order of the requests
   */
  record Look(String incarnation, long version, List<Batch> batches) {
    /**
     * Appends another look's batches. If the two came from different incarnations, the result has
     * none.
     */
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
   * Answers all requests in one query. A request without new events moves to the end of its step.
   *
   * @param maxRows per request
   * @param maxBytes content per request; a single event is read whatever its size
   */
  Look look(List<ReadRequest> requests, int maxRows, int maxBytes) throws LockstepException;

  /** Asks for a key's events from a sequence on. */
  record BacklogRequest(String key, long seq, String ord) {}

  /**
   * The events of some keys.
   *
   * @param incarnation as in {@link Look}
   */
  record Backlog(String incarnation, List<ReadEvent> rows) {}

  /**
   * Reads the keys' events in order, up to a position that is not within a step.
   *
   * @param request the stream, partition and position
   * @param maxRows per key
   * @param maxBytes in all
   */
  Backlog backlog(ReadRequest request, List<BacklogRequest> keys, int maxRows, int maxBytes)
      throws LockstepException;
}
