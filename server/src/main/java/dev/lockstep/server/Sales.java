package dev.lockstep.server;

import dev.lockstep.server.account.SaleBooks;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.bank.TestBank;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.server.cart.Carts;
import dev.lockstep.server.draw.Draws;
import dev.lockstep.server.job.BackgroundJobs;
import dev.lockstep.server.lifecycle.Opened;
import dev.lockstep.server.purchase.Purchases;
import dev.lockstep.server.saleevent.SaleEvents;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Everything that sells: campaigns, carts, purchases, draws, and the payment provider. */
record Sales(
    SaleEvents events,
    Campaigns campaigns,
    Draws draws,
    PaymentProvider provider,
    Purchases purchases,
    Carts carts,
    TestBank bank,
    Opened opened)
    implements AutoCloseable {

  static Sales open(Node node, Blocks blocks) {
    return Opened.allOrNone(opened -> open(node, blocks, opened));
  }

  private static Sales open(Node node, Blocks blocks, Opened opened) {
    SaleEvents events = new SaleEvents(blocks.outbox(), blocks.holds());
    Campaigns campaigns = campaigns(node, blocks, events);
    Draws draws =
        new Draws(
            blocks.transactor(),
            blocks.holds(),
            blocks.workers(),
            campaigns,
            Purchases::soldTo,
            Optional.empty(),
            events);
    PaymentProvider provider = opened.add(provider(node));
    SaleHooks hooks =
        new SaleHooks(new SaleBooks(blocks.ledger()), events, draws, node.metrics().purchases());
    Purchases purchases = opened.add(purchases(node, blocks, campaigns, provider, hooks));
    Carts carts =
        new Carts(
            node.vertx(), blocks.workers(), campaigns, blocks.holds(), blocks.once(), purchases);
    TestBank bank = new TestBank(node.vertx(), purchases, provider.gateway());
    return new Sales(events, campaigns, draws, provider, purchases, carts, bank, opened);
  }

  private static Campaigns campaigns(Node node, Blocks blocks, SaleEvents events) {
    return new Campaigns(
        blocks.transactor(),
        blocks.holds(),
        blocks.once(),
        blocks.workers(),
        node.vertx(),
        node.inFlight(),
        node.config().holdRules(),
        events,
        node.config().edge().limits());
  }

  private static PaymentProvider provider(Node node) {
    return PaymentProvider.open(
        node.vertx(),
        node.database().dataSource(),
        node.config().payments(),
        node.self(),
        node.metrics().payments());
  }

  private static Purchases purchases(
      Node node, Blocks blocks, Campaigns campaigns, PaymentProvider provider, SaleHooks hooks) {
    return new Purchases(
        node.vertx(),
        blocks.workers(),
        blocks.transactor(),
        campaigns,
        blocks.holds(),
        blocks.once(),
        provider.payments(),
        provider.webhookSecret(),
        node.config().payments().timings(),
        hooks);
  }

  List<Endpoint> endpoints() {
    return Stream.of(
            bank.endpoints(),
            campaigns.endpoints(),
            carts.endpoints(),
            purchases.endpoints(),
            draws.endpoints())
        .flatMap(List::stream)
        .toList();
  }

  List<BackgroundJobs> backgroundJobs() {
    return List.of(purchases.backgroundJobs(), draws.backgroundJobs());
  }

  @Override
  public void close() {
    opened.close();
  }
}
