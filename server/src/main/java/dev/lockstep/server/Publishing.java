package dev.lockstep.server;

import dev.lockstep.server.config.DeliverySettings;
import dev.lockstep.server.config.ServerConfig;
import dev.lockstep.server.delivery.Deliveries;
import dev.lockstep.server.lifecycle.Opened;
import dev.lockstep.server.lifecycle.Version;
import dev.lockstep.server.mail.Mailer;
import dev.lockstep.server.outgoing.OutgoingHttp;
import dev.lockstep.server.saleevent.SaleEvents;
import dev.lockstep.server.stream.Streams;
import java.util.Set;

/** Everything that leaves this server: deliveries by webhook and mail, and streams of events. */
record Publishing(Deliveries deliveries, Streams streams, Opened opened) implements AutoCloseable {

  static Publishing open(Node node, Blocks blocks, SaleEvents saleEvents) {
    return Opened.allOrNone(
        opened -> {
          Deliveries deliveries = deliveries(node, blocks, opened);
          Streams streams = opened.add(streams(node, blocks, saleEvents, deliveries, opened));
          return new Publishing(deliveries, streams, opened);
        });
  }

  private static Deliveries deliveries(Node node, Blocks blocks, Opened opened) {
    DeliverySettings settings = node.config().deliveries();
    return new Deliveries(
        blocks.transactor(),
        opened.add(new OutgoingHttp(node.vertx(), settings.outgoing())),
        settings.smtp().map(smtp -> opened.add(new Mailer(node.vertx(), smtp))),
        settings.signingKeys(),
        settings.config(),
        "Lockstep/" + Version.CURRENT,
        node.metrics().deliveries());
  }

  private static Streams streams(
      Node node, Blocks blocks, SaleEvents saleEvents, Deliveries deliveries, Opened opened) {
    ServerConfig config = node.config();
    return new Streams(
        blocks.transactor(),
        blocks.outbox(),
        blocks.once(),
        blocks.workers(),
        Streaming.sinks(
            opened.add(new OutgoingHttp(node.vertx(), config.deliveries().outgoing())),
            deliveries,
            Streaming.kafka(config.kafka(), blocks.transactor())),
        Streaming.relay(node.name(), config.blocks(), node.listen(), node.metrics().relay()),
        Set.of(SaleEvents.STREAM),
        Streaming.telling(saleEvents, node.metrics().streams()));
  }

  @Override
  public void close() {
    opened.close();
  }
}
