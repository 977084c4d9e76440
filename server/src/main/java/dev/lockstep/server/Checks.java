package dev.lockstep.server;

import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.invariant.Invariants;
import dev.lockstep.server.job.BackgroundJobs;
import dev.lockstep.server.lifecycle.Opened;
import dev.lockstep.server.reconciliation.Reconciliation;
import java.util.List;
import java.util.stream.Stream;

/** The checks of records that must agree: invariants, and money with goods. */
record Checks(Invariants invariants, Reconciliation reconciliation, Opened opened)
    implements AutoCloseable {

  static Checks open(Node node, Blocks blocks, Sales sales) {
    return Opened.allOrNone(
        opened ->
            new Checks(
                opened.add(invariants(node, blocks, sales)),
                opened.add(reconciliation(node, blocks, sales)),
                opened));
  }

  private static Invariants invariants(Node node, Blocks blocks, Sales sales) {
    return new Invariants(
        blocks.transactor(),
        sales.campaigns(),
        blocks.holds(),
        blocks.ledger(),
        node.vertx(),
        blocks.workers(),
        node.metrics());
  }

  private static Reconciliation reconciliation(Node node, Blocks blocks, Sales sales) {
    return new Reconciliation(
        blocks.transactor(),
        node.vertx(),
        blocks.workers(),
        sales.campaigns(),
        sales.provider().payments().history(),
        node.config().payments().timings(),
        node.metrics());
  }

  List<Endpoint> endpoints() {
    return Stream.of(invariants.endpoints(), reconciliation.endpoints())
        .flatMap(List::stream)
        .toList();
  }

  List<BackgroundJobs> backgroundJobs() {
    return List.of(invariants.backgroundJobs(), reconciliation.backgroundJobs());
  }

  @Override
  public void close() {
    opened.close();
  }
}
