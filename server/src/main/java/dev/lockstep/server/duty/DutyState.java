package dev.lockstep.server.duty;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.tx.Transactor;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/**
 * Who goes on with a check that takes long, and where it is. Each method is a short transaction of
 * its own. Thread-safe.
 */
public final class DutyState {
  private static final String TAKE =
      """
      INSERT INTO lockstep_server.duty_state AS d (name, holder, until, state)
      VALUES (?, ?, now() + ? * interval '1 millisecond', '{}')
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
      WHERE d.until <= now() OR d.holder = excluded.holder
      RETURNING state""";

  // Zero rows: somebody else has gone on with it.
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
   * @param lease how long nobody else goes on with it after the last sign of whoever does
   */
  public DutyState(Transactor transactor, String name, Duration lease) {
    this.transactor = transactor;
    this.name = name;
    this.lease = lease;
  }

  /** Takes it, and says where it is; empty: somebody else has it. */
  public Optional<JsonObject> take() {
    return one(TAKE, name, holder, lease.toMillis()).map(JsonObject::new);
  }

  /** Says where it is now, and keeps it; false: somebody else has taken it. */
  public boolean save(JsonObject state) {
    return one(SAVE, state.encode(), lease.toMillis(), name, holder).isPresent();
  }

  /** Lets somebody else go on with it. */
  public void leave() {
    transactor.run(
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          trip.update(LEAVE, name, holder);
          trip.send();
        });
  }

  /** Where it was when somebody last said so. */
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
