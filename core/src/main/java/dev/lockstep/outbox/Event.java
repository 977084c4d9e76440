package dev.lockstep.outbox;

import java.time.Instant;
import java.util.Map;

/**
 * A committed event.
 *
 * @param id unique in this database; do not order by it
 * @param seq its sequence: 1, 2, 3 … of its key, in commit order
 * @param appendedAt by the database's clock, before the commit
 */
public record Event(
    long id,
    String stream,
    String key,
    long seq,
    String type,
    Content content,
    Map<String, String> headers,
    Instant appendedAt) {

  /** Converts to CloudEvents 1.0. */
  public CloudEvent asCloudEvent() {
    return CloudEvent.of(this);
  }
}
