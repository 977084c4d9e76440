package dev.lockstep.server;

import dev.lockstep.kafka.KafkaConfig;
import dev.lockstep.kafka.KafkaSink;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.OutboxConfig;
import dev.lockstep.outbox.RelayConfig;
import dev.lockstep.outbox.RelayListener;
import dev.lockstep.outbox.SinkHealth;
import dev.lockstep.outbox.SinkLag;
import dev.lockstep.outbox.SinkTypes;
import dev.lockstep.outbox.StreamView;
import dev.lockstep.server.delivery.Deliveries;
import dev.lockstep.server.outgoing.OutgoingHttp;
import dev.lockstep.server.saleevent.SaleEvents;
import dev.lockstep.server.stream.SinkKinds;
import dev.lockstep.server.stream.StreamListener;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/** How this server's streams are set up. */
final class Streaming {
  private static final String NAMESPACE = "SELECT name FROM lockstep_server.stream_namespace";

  /** A share of the time that a stop has; what is on its way for longer is sent again. */
  private static final Duration RELAY_STOP_TIMEOUT = Duration.ofSeconds(2);

  private Streaming() {}

  /**
   * @throws CannotStart if the database is not one to go on with: restored from a dump, say
   */
  static Outbox outbox(Transactor transactor, OutboxConfig config) {
    try {
      return new Outbox(transactor, config);
    } catch (IllegalStateException e) {
      throw new CannotStart(String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * @param listen gives a connection of its own for notifications; empty: the relay polls
   */
  static RelayConfig relay(
      String node, BlockSettings settings, Optional<DataSource> listen, RelayListener figures) {
    RelayConfig named =
        RelayConfig.named(node)
            .withCloseTimeout(RELAY_STOP_TIMEOUT)
            .withPollInterval(settings.streamPollInterval())
            .withMaxAttempts(settings.streamAttempts())
            .withListener(figures);
    return listen.map(named::withListen).orElse(named);
  }

  /**
   * @param http with connections of its own, so that neither streams nor deliveries hold the other
   *     up
   */
  static SinkKinds sinks(
      OutgoingHttp http, Deliveries deliveries, Optional<SinkTypes.Factory> kafka) {
    return new SinkKinds(http, deliveries::sign, "Lockstep/" + Version.CURRENT, kafka);
  }

  /** Sinks in Kafka, under a name that all nodes of this database share. Blocks. */
  static Optional<SinkTypes.Factory> kafka(Optional<String> brokers, Transactor transactor) {
    return brokers.map(
        where -> KafkaSink.on(KafkaConfig.of(where, transactor.call(Streaming::namespace))));
  }

  private static String namespace(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<String> name = trip.query(NAMESPACE, row -> row.getString(1));
    trip.send();
    return name.list().get(0);
  }

  /** Tells sales whether anybody listens, and the figures how it goes. */
  static StreamListener telling(SaleEvents events, StreamListener figures) {
    return new StreamListener() {
      @Override
      public void onStreams(List<StreamView> all) {
        events.look(all);
      }

      @Override
      public void onLags(List<SinkLag> lags, List<SinkHealth> health, int partitions) {
        figures.onLags(lags, health, partitions);
      }
    };
  }
}
