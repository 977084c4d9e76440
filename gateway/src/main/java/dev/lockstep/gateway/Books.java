package dev.lockstep.gateway;

import java.time.Instant;
import java.util.Map;

/**
 * What the locked rows said.
 *
 * @param now the database's clock
 * @param intents those the batch is about, by id
 * @param refunds those the batch is about, by id
 * @param answers those already given under the batch's keys
 */
record Books(
    Instant now,
    Map<String, Intent> intents,
    Map<String, Refund> refunds,
    Map<String, Stored> answers) {

  /** An answer as it was given under a key. */
  record Stored(String key, String request, String fingerprint, int status, String body) {}
}
