package dev.lockstep.server.job;

import dev.lockstep.outbox.NewEvent;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.util.List;

/** Writes the events of a job's completion. Refuses invalid ones with a problem. */
public interface CompletionEvents {
  /**
   * Reads an event with its stream, key, type and data.
   *
   * @param at its path in the request, for messages
   */
  NewEvent read(String at, JsonObject event);

  /** Refuses events of unknown streams. Queries the database. */
  void requireStreams(List<NewEvent> events);

  /** Appends them in the caller's transaction; returns each event's place. */
  JsonArray append(Connection connection, List<NewEvent> events);
}
