package dev.lockstep.outbox;

import java.time.Instant;
import java.util.Map;

/**
 * An event as it was committed.
 *
 * @param id unique in this database; says nothing about order
 * @param seq its place in its key: 1, 2, 3 …, in the order of commits
 * @param appendedAt on the database's clock, before the commit
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

  /** As CloudEvents 1.0 has it. */
  public CloudEvent asCloudEvent() {
    return CloudEvent.of(this);
  }
}
