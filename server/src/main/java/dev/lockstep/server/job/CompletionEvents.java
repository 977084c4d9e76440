package dev.lockstep.server.job;

import dev.lockstep.outbox.NewEvent;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.util.List;

/** How the completion of a job writes events. Refuses with a problem what cannot be written. */
public interface CompletionEvents {
  /**
   * An event with its stream, key, type and data.
   *
   * @param at where it stands in the request, for messages
   */
  NewEvent read(String at, JsonObject event);

  /** Refuses events of streams that are not there. Asks the database. */
  void requireStreams(List<NewEvent> events);

  /** Appends them, in the caller's transaction; the place of each. */
  JsonArray append(Connection connection, List<NewEvent> events);
}
