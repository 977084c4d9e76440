package dev.lockstep.server.duty;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.tx.Transactor;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/**
 * Which node continues a long check, and how far it has come. Each method is one short transaction.
 * Thread-safe.
 */
public final class DutyState {
  private static final String TAKE =
      """
      INSERT INTO lockstep_server.duty_state AS d (name, holder, until, state)
      VALUES (?, ?, now() + ? * interval '1 millisecond', '{}')
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
      WHERE d.until <= now() OR d.holder = excluded.holder
      RETURNING state""";

  // Zero rows: another node has taken it over.
  private static final String SAVE =
      """
      UPDATE lockstep_server.duty_state
      SET state = ?, until = now() + ? * interval '1 millisecond'
      WHERE name = ? AND holder = ? RETURNING 1""";

  private static final String LEAVE =
      "UPDATE lockstep_server.duty_state SET until = now() WHERE name = ? AND holder = ?";

  private static final String READ = "SELECT state FROM lockstep_server.duty_state WHERE name = ?";

  private final Transactor transactor;
  private final String name;
  private final Duration lease;
  private final String holder = UUID.randomUUID().toString();

  /**
   * @param lease how long after the holder's last save nobody else takes over
   */
  public DutyState(Transactor transactor, String name, Duration lease) {
    this.transactor = transactor;
    this.name = name;
    this.lease = lease;
  }

  /** Takes the check and returns its progress; empty if another node has it. */
  public Optional<JsonObject> take() {
    return one(TAKE, name, holder, lease.toMillis()).map(JsonObject::new);
  }

  /** Saves the progress; false if another node has taken over. */
  public boolean save(JsonObject state) {
    return one(SAVE, state.encode(), lease.toMillis(), name, holder).isPresent();
  }

  /** Hands the check over to any node. */
  public void leave() {
    transactor.run(
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          trip.update(LEAVE, name, holder);
          trip.send();
        });
  }

  /** The progress last saved by any node. */
  public JsonObject read() {
    return one(READ, name).map(JsonObject::new).orElseGet(JsonObject::new);
  }

  private Optional<String> one(String sql, Object... parameters) {
    return transactor.call(
        transactor.defaults().withLabel(name + " state"),
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          Rows<String> rows = trip.query(sql, row -> row.getString(1), parameters);
          trip.send();
          return rows.list().stream().findFirst();
        });
  }
}
