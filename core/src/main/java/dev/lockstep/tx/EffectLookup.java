package dev.lockstep.tx;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Finds out whether a transaction's effect exists, asked only after the connection was lost during
 * COMMIT and once the server has certainly finished with that transaction.
 *
 * <p>Look for something only that one call can have written: its idempotency key, its id.
 */
@FunctionalInterface
public interface EffectLookup<T> {
  /** The result of the effect if it is there; empty if it is not. */
  Optional<T> find(Connection connection) throws SQLException;
}
