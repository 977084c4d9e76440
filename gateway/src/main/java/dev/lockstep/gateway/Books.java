package dev.lockstep.gateway;

import java.time.Instant;
import java.util.Map;

/**
 * What a batch is decided on, as read from the database.
 *
 * @param now the database's clock
 * @param intents the intents of the batch, by id
 * @param refunds the refunds of the batch, by id
 * @param answers the answers already given under the batch's keys, by key
 */
record Books(
    Instant now,
    Map<String, Intent> intents,
    Map<String, Refund> refunds,
    Map<String, Stored> answers) {

  /** An answer as it was given under a key. */
  record Stored(String key, String request, String fingerprint, int status, String body) {}
}
