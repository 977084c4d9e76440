package dev.lockstep.server;

import dev.lockstep.gateway.Gateway;
import dev.lockstep.lab.LabConfig;
import dev.lockstep.server.account.Accounts;
import dev.lockstep.server.api.Authenticator;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.config.ServerConfig;
import dev.lockstep.server.database.DatabaseAddress;
import dev.lockstep.server.database.DiskSpace;
import dev.lockstep.server.job.BackgroundJobs;
import dev.lockstep.server.key.Keys;
import dev.lockstep.server.key.Secret;
import dev.lockstep.server.lab.LabRuns;
import dev.lockstep.server.lifecycle.Opened;
import dev.lockstep.server.lifecycle.StopTime;
import dev.lockstep.server.visitor.Visitors;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The parts of the server on one database, each of which uses those before it:
 *
 * <pre>
 *   Blocks ── Sales ── Checks ── Publishing ── Work
 * </pre>
 *
 * <p>They open in this order and close in reverse. One thread opens and closes them.
 */
final class Services implements AutoCloseable {
  private final Opened opened;
  private final Node node;
  private final Blocks blocks;
  private final Keys keys;
  private final Sales sales;
  private final Checks checks;
  private final Accounts accounts;
  private final Publishing publishing;
  private final Work work;
  private final Optional<DiskSpace> disk;
  private final List<Endpoint> endpoints = new ArrayList<>();
  private final Optional<Secret> firstOperatorKey;

  private Services(Node node, Opened opened) {
    this.node = node;
    this.opened = opened;
    ServerConfig config = node.config();
    blocks = opened.add(Blocks.open(node));
    keys =
        new Keys(
            blocks.transactor(),
            blocks.once(),
            blocks.workers(),
            config.operatorKey(),
            config.edge().rates(),
            node.nanoTime());
    sales = opened.add(Sales.open(node, blocks));
    checks = opened.add(Checks.open(node, blocks, sales));
    accounts =
        new Accounts(
            node.vertx(), blocks.workers(), blocks.transactor(), blocks.ledger(), blocks.once());
    publishing = opened.add(Publishing.open(node, blocks, sales.events()));
    LabRuns lab = opened.add(lab(node));
    work = opened.add(Work.open(node, blocks, publishing));
    disk =
        config.externalDatabase().isEmpty()
            ? Optional.of(new DiskSpace(config.data()))
            : Optional.empty();

    endpoints.addAll(keys.endpoints());
    endpoints.addAll(visitors().endpoints());
    endpoints.addAll(sales.endpoints());
    endpoints.addAll(accounts.endpoints());
    endpoints.addAll(checks.endpoints());
    endpoints.addAll(blocks.health().endpoints(blocks.workers()));
    endpoints.addAll(lab.endpoints());
    endpoints.addAll(work.endpoints());
    endpoints.addAll(publishing.streams().endpoints());

    firstOperatorKey = keys.ensureOperator();
  }

  /** Opens and starts everything, or nothing. */
  static Services open(Node node) {
    return Opened.allOrNone(
        opened -> {
          Services services = new Services(node, opened);
          services.start();
          return services;
        });
  }

  private void start() {
    if (node.config().samples()) {
      sales.campaigns().createSamples();
    }
    accounts.start();
    blocks.health().start(blocks.transactor());
    work.startHousekeeping(checks);
    ServiceGauges.add(
        node.metrics(), node.database(), blocks.holds(), blocks.ledger(), sales.campaigns());
    ServiceGauges.addHealth(node.metrics(), disk, work.jobs(), publishing.streams());
    publishing.streams().start();
    // Last, because jobs use everything above.
    work.startJobs(backgroundJobs());
  }

  private List<BackgroundJobs> backgroundJobs() {
    List<BackgroundJobs> all = new ArrayList<>();
    all.add(
        Upkeep.of(
            blocks.holds(), blocks.ledger(), blocks.once(), keys, work.jobs().jobs().claims()));
    all.addAll(sales.backgroundJobs());
    all.addAll(checks.backgroundJobs());
    all.add(work.scheduling().backgroundJobs());
    all.add(publishing.deliveries().backgroundJobs());
    return all;
  }

  private Visitors visitors() {
    return new Visitors(
        keys,
        node.config().visitors(),
        sales.provider().gateway().isPresent(),
        node.config().payments().takesTestCards());
  }

  /** Connects as the same user but outside the pool, because the lab uses another database. */
  private static LabRuns lab(Node node) {
    ServerConfig config = node.config();
    DatabaseAddress address = node.database().address();
    Map<String, String> properties = new HashMap<>();
    address.properties().forEach((name, value) -> properties.put((String) name, (String) value));
    Optional<LabConfig> where =
        config.lab() ? Optional.of(new LabConfig(address.url(), properties)) : Optional.empty();
    return new LabRuns(
        node.vertx(), where, config.visitors(), config.edge().rates().lab(), node.nanoTime());
  }

  List<Endpoint> endpoints() {
    return List.copyOf(endpoints);
  }

  Authenticator authenticator() {
    return keys;
  }

  /** The problems of each background part of this node. From memory. */
  Map<String, List<String>> problems() {
    Map<String, List<String>> all = new LinkedHashMap<>();
    all.put("Jobs", work.jobs().health().problems());
    all.put("Streams", publishing.streams().problems());
    disk.map(DiskSpace::problems)
        .filter(found -> !found.isEmpty())
        .ifPresent(found -> all.put("Disk", found));
    return all;
  }

  /** A key made at this start, to be shown once. */
  Optional<Secret> firstOperatorKey() {
    return firstOperatorKey;
  }

  /** The built-in gateway, if there is no other provider. */
  Optional<Gateway> gateway() {
    return sales.provider().gateway();
  }

  /** Ends background work, jobs and streams, and hands over this node's shards and partitions. */
  List<StopTime.Ending> workEndings() {
    return List.of(within -> work.jobs().endWork(), within -> publishing.streams().close());
  }

  @Override
  public void close() {
    opened.close();
  }
}
