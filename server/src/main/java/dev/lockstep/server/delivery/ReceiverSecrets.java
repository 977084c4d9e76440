package dev.lockstep.server.delivery;

import dev.lockstep.server.key.Secret;
import dev.lockstep.server.outgoing.Target;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.tx.Transactor;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * The secret of each receiver, by scheme, host and port: derived from one that only the servers
 * know, so that there is nothing to store for a receiver, and none can sign for another. Immutable.
 */
final class ReceiverSecrets {
  private static final int RANDOM_BYTES = 32;
  private static final String PURPOSE = "lockstep webhook ";

  // Of several nodes that start at once, one makes it and all read it.
  private static final String MAKE =
      "INSERT INTO lockstep_server.webhook_secret (secret) VALUES (?) ON CONFLICT DO NOTHING";
  private static final String READ = "SELECT secret FROM lockstep_server.webhook_secret";

  private final List<byte[]> masters;

  private ReceiverSecrets(List<byte[]> masters) {
    this.masters = masters;
  }

  /** Those of the configuration, the newest first; without any, the one of the database. Blocks. */
  static ReceiverSecrets open(Transactor transactor, List<Secret> configured) {
    return new ReceiverSecrets(
        configured.isEmpty()
            ? List.of(transactor.call(ReceiverSecrets::ofTheDatabase))
            : configured.stream()
                .map(secret -> secret.reveal().getBytes(StandardCharsets.UTF_8))
                .toList());
  }

  private static byte[] ofTheDatabase(Connection connection) throws SQLException {
    byte[] random = new byte[RANDOM_BYTES];
    new SecureRandom().nextBytes(random);
    RoundTrip trip = new RoundTrip(connection);
    trip.update(MAKE, random);
    Rows<byte[]> stored = trip.query(READ, row -> row.getBytes(1));
    trip.send();
    return stored.list().get(0);
  }

  /** What a receiver's deliveries are signed with; the first is the one to tell. */
  List<ReceiverSecret> of(Target receiver) {
    byte[] whom = (PURPOSE + receiver.origin()).getBytes(StandardCharsets.UTF_8);
    return masters.stream()
        .map(master -> new ReceiverSecret(Signature.hmac(master, whom)))
        .toList();
  }
}
