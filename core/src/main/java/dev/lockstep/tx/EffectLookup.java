package dev.lockstep.tx;

import dev.lockstep.sql.Exchange;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Finds out whether a transaction's effect exists. Lockstep calls it only after the connection was
 * lost during COMMIT. A transaction whose id is known has ended by then; one sent in a single
 * packet ({@link Exchange#deferInOnePacket}) may still commit.
 *
 * <p>Look for something that only this one call can have written: its idempotency key, its id.
 */
@FunctionalInterface
public interface EffectLookup<T> {
  /** Returns the effect's result; empty if there is no effect. */
  Optional<T> find(Connection connection) throws SQLException;
}
