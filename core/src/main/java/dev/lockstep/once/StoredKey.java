package dev.lockstep.once;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;

/**
 * A key's row.
 *
 * @param answer null until the effect is finished
 * @param createdAt when it was claimed: the start of the claiming transaction
 */
record StoredKey(OnceKey key, Fingerprint fingerprint, @Nullable String answer, Instant createdAt) {

  /** In the order that {@link #read} expects. */
  static final String COLUMNS = "o.owner, o.key, o.fingerprint, o.answer, o.created_at";

  static StoredKey read(long scope, ResultSet row) throws SQLException {
    return new StoredKey(
        new OnceKey(scope, row.getString(1), row.getString(2)),
        Fingerprint.stored(row.getBytes(3)),
        row.getString(4),
        row.getObject(5, OffsetDateTime.class).toInstant());
  }

  Claim claimedBy(Fingerprint asked) {
    if (!fingerprint.equals(asked)) {
      return new Claim.Reused();
    }
    return answer == null ? new Claim.InUse() : new Claim.Answered(answer);
  }
}
