package dev.lockstep.server;

import com.zaxxer.hikari.HikariPoolMXBean;
import dev.lockstep.combine.CombinerConfig;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.HoldsConfig;
import dev.lockstep.lab.LabConfig;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerConfig;
import dev.lockstep.once.Once;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.server.account.Accounts;
import dev.lockstep.server.account.SaleBooks;
import dev.lockstep.server.api.Authenticator;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.InFlight;
import dev.lockstep.server.api.Reports;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.api.WorkersConfig;
import dev.lockstep.server.bank.TestBank;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.server.cart.Carts;
import dev.lockstep.server.delivery.Deliveries;
import dev.lockstep.server.draw.Draws;
import dev.lockstep.server.gateway.Gateway;
import dev.lockstep.server.health.DatabaseHealth;
import dev.lockstep.server.health.PoolUse;
import dev.lockstep.server.invariant.Invariants;
import dev.lockstep.server.job.Duties;
import dev.lockstep.server.job.JobRunner;
import dev.lockstep.server.key.Keys;
import dev.lockstep.server.key.Secret;
import dev.lockstep.server.lab.LabRuns;
import dev.lockstep.server.mail.Mailer;
import dev.lockstep.server.metric.Metrics;
import dev.lockstep.server.outgoing.OutgoingHttp;
import dev.lockstep.server.purchase.Purchases;
import dev.lockstep.server.rate.Rate;
import dev.lockstep.server.reconciliation.Reconciliation;
import dev.lockstep.server.saleevent.SaleEvents;
import dev.lockstep.server.schedule.Scheduling;
import dev.lockstep.server.stream.Streams;
import dev.lockstep.server.visitor.Visitors;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxListener;
import io.vertx.core.Vertx;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The blocks and what the server makes of them, on one database. One thread opens and closes it.
 */
final class Services implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Services.class);

  /** Newest first, which is the order to close in. */
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();

  private final Keys keys;
  private final PaymentProvider provider;
  private final JobRunner jobs;
  private final Streams streams;
  private final Optional<DiskSpace> disk;
  private final List<Endpoint> endpoints = new ArrayList<>();
  private final Optional<Secret> firstOperatorKey;

  private Services(
      Database database,
      ServerConfig config,
      Vertx vertx,
      InFlight inFlight,
      URI self,
      Metrics metrics,
      LongSupplier nanoTime) {
    try {
      DatabaseHealth health = opened(new DatabaseHealth(() -> poolUse(database), metrics));
      TxListener figures = metrics.transactions();
      TxListener counting = health.transactions();
      TxListener listener =
          attempt -> {
            figures.onAttempt(attempt);
            counting.onAttempt(attempt);
            database.met(attempt);
          };
      Transactor transactor =
          new Transactor(database.dataSource(), config.database().transactions(), listener);
      Workers workers =
          opened(
              workers(vertx, config.database().workers(), transactor, database, listener, metrics));
      Holds holds = opened(new Holds(transactor, holdsConfig(config.blocks().holds(), metrics)));
      Ledger ledger =
          opened(new Ledger(transactor, ledgerConfig(config.blocks().ledger(), metrics)));
      Once once = new Once(transactor, config.blocks().once());
      keys =
          new Keys(
              transactor, once, workers, config.operatorKey(), config.edge().rates(), nanoTime);
      Outbox outbox = Streaming.outbox(transactor, config.blocks().outbox());
      SaleEvents saleEvents = new SaleEvents(outbox, holds);
      Campaigns campaigns =
          new Campaigns(
              transactor,
              holds,
              once,
              workers,
              vertx,
              inFlight,
              config.holdRules(),
              saleEvents,
              config.edge().limits());
      Draws draws =
          new Draws(
              transactor,
              holds,
              workers,
              campaigns,
              Purchases::soldTo,
              Optional.empty(),
              saleEvents);
      provider =
          opened(
              PaymentProvider.open(
                  vertx, database.dataSource(), config.payments(), self, metrics.payments()));
      Purchases purchases =
          opened(
              new Purchases(
                  vertx,
                  workers,
                  transactor,
                  campaigns,
                  holds,
                  once,
                  provider.payments(),
                  provider.webhookSecret(),
                  config.payments().timings(),
                  new SaleHooks(new SaleBooks(ledger), saleEvents, draws, metrics.purchases())));
      Carts carts = new Carts(vertx, workers, campaigns, holds, once, purchases);
      Invariants invariants =
          opened(new Invariants(transactor, campaigns, holds, ledger, vertx, workers, metrics));
      Reconciliation reconciliation =
          opened(
              new Reconciliation(
                  transactor,
                  vertx,
                  workers,
                  campaigns,
                  provider.payments().history(),
                  config.payments().timings(),
                  metrics));
      Accounts accounts = new Accounts(vertx, workers, transactor, ledger, once);
      jobs = jobRunner(database, config, transactor, self, metrics);
      Deliveries deliveries = deliveries(config.deliveries(), vertx, transactor, metrics);
      Scheduling scheduling =
          new Scheduling(
              transactor, workers, once, jobs.schedules(), deliveries, config.blocks().history());
      streams =
          opened(
              new Streams(
                  transactor,
                  outbox,
                  once,
                  workers,
                  Streaming.sinks(
                      opened(new OutgoingHttp(vertx, config.deliveries().outgoing())),
                      deliveries,
                      Streaming.kafka(config.kafka(), transactor)),
                  Streaming.relay(
                      node(self), config.blocks(), listen(database, config), metrics.relay()),
                  Set.of(SaleEvents.STREAM),
                  Streaming.telling(saleEvents, metrics.streams())));
      endpoints.addAll(keys.endpoints());
      endpoints.addAll(
          new Visitors(
                  keys,
                  config.visitors(),
                  provider.gateway().isPresent(),
                  config.payments().takesTestCards())
              .endpoints());
      endpoints.addAll(new TestBank(vertx, purchases, provider.gateway()).endpoints());
      endpoints.addAll(campaigns.endpoints());
      endpoints.addAll(carts.endpoints());
      endpoints.addAll(purchases.endpoints());
      endpoints.addAll(draws.endpoints());
      endpoints.addAll(accounts.endpoints());
      endpoints.addAll(invariants.endpoints());
      endpoints.addAll(reconciliation.endpoints());
      endpoints.addAll(health.endpoints(workers));
      endpoints.addAll(
          opened(lab(database, config, vertx, config.edge().rates().lab(), nanoTime)).endpoints());
      endpoints.addAll(scheduling.endpoints());
      endpoints.addAll(deliveries.endpoints());
      endpoints.addAll(jobs.endpoints(workers));
      endpoints.addAll(
          jobs.workEndpoints(
              vertx, workers, inFlight, once, streams.forJobs(), config.blocks().claims()));
      endpoints.addAll(streams.endpoints());

      firstOperatorKey = keys.ensureOperator();
      if (config.samples()) {
        campaigns.createSamples();
      }
      accounts.start();
      health.start(transactor);
      opened(new Housekeeping(jobs, invariants, reconciliation));
      disk =
          config.externalDatabase().isEmpty()
              ? Optional.of(new DiskSpace(config.data()))
              : Optional.empty();
      ServiceGauges.add(metrics, database, holds, ledger, campaigns);
      ServiceGauges.addHealth(metrics, disk, jobs, streams);
      streams.start();
      // Last: jobs use everything above, and the worker is closed before any of it.
      start(
          opened(jobs),
          List.of(
              Upkeep.of(holds, ledger, once, keys, jobs.jobs().claims()),
              purchases.duties(),
              draws.duties(),
              invariants.duties(),
              reconciliation.duties(),
              scheduling.duties(),
              deliveries.duties()));
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /**
   * Opens everything, or nothing.
   *
   * @param self where this server is reached from this machine
   * @param nanoTime the clock of rate limits
   */
  static Services open(
      Database database,
      ServerConfig config,
      Vertx vertx,
      InFlight inFlight,
      URI self,
      Metrics metrics,
      LongSupplier nanoTime) {
    return new Services(database, config, vertx, inFlight, self, metrics, nanoTime);
  }

  /** As the same user, and not through the pool: it wants another database. */
  private static LabRuns lab(
      Database database, ServerConfig config, Vertx vertx, Rate rate, LongSupplier nanoTime) {
    DatabaseAddress address = database.address();
    Map<String, String> properties = new HashMap<>();
    address.properties().forEach((name, value) -> properties.put((String) name, (String) value));
    Optional<LabConfig> where =
        config.lab() ? Optional.of(new LabConfig(address.url(), properties)) : Optional.empty();
    return new LabRuns(vertx, where, config.visitors(), rate, nanoTime);
  }

  /** Several nodes may run on one machine: what others reach it by, and its process, name it. */
  private static String node(URI self) {
    return self.getAuthority() + ", process " + ProcessHandle.current().pid();
  }

  private static Optional<DataSource> listen(Database database, ServerConfig config) {
    return config.listen() ? Optional.of(database.direct()) : Optional.empty();
  }

  private static JobRunner jobRunner(
      Database database, ServerConfig config, Transactor transactor, URI self, Metrics metrics) {
    return new JobRunner(
        transactor,
        config.blocks().jobs().withListener(metrics.work()),
        node(self),
        config.blocks().jobPollInterval(),
        Scheduling::recurrence,
        (job, at) -> Deliveries.occurrence(job, at, config.deliveries().config()),
        listen(database, config),
        metrics.jobs());
  }

  private static void start(JobRunner jobs, List<Duties> duties) {
    try {
      jobs.start(duties);
    } catch (IllegalStateException e) {
      // The database has another number of shards than this node is set to.
      throw new CannotStart(String.valueOf(e.getMessage()), e);
    }
  }

  private Deliveries deliveries(
      DeliverySettings settings, Vertx vertx, Transactor transactor, Metrics metrics) {
    return new Deliveries(
        transactor,
        opened(new OutgoingHttp(vertx, settings.outgoing())),
        settings.smtp().map(smtp -> opened(new Mailer(vertx, smtp))),
        settings.signingKeys(),
        settings.config(),
        "Lockstep/" + Version.CURRENT,
        metrics.deliveries());
  }

  private static Workers workers(
      Vertx vertx,
      WorkersConfig config,
      Transactor transactor,
      Database database,
      TxListener listener,
      Metrics metrics) {
    Workers workers =
        new Workers(
            vertx,
            config,
            new Reports(transactor, database.reports(), config.reportTimeout(), listener));
    metrics.gauge(
        "lockstep.reports.waiting",
        "Operators' reports that run or wait for their turn.",
        workers::reportsWaiting);
    return workers;
  }

  private static PoolUse poolUse(Database database) {
    HikariPoolMXBean pool = database.poolFigures();
    return new PoolUse(
        pool.getActiveConnections(),
        pool.getIdleConnections(),
        pool.getThreadsAwaitingConnection(),
        database.poolSize());
  }

  private static LedgerConfig ledgerConfig(LedgerConfig config, Metrics metrics) {
    CombinerConfig combiner = config.combiner();
    return config.withCombiner(combiner.withListener(metrics.batches(combiner.name())));
  }

  private static HoldsConfig holdsConfig(HoldsConfig config, Metrics metrics) {
    CombinerConfig combiner = config.combiner();
    return config.withCombiner(combiner.withListener(metrics.batches(combiner.name())));
  }

  List<Endpoint> endpoints() {
    return List.copyOf(endpoints);
  }

  Authenticator authenticator() {
    return keys;
  }

  /** What is wrong with each part of this node that works by itself. From memory. */
  Map<String, List<String>> problems() {
    Map<String, List<String>> all = new LinkedHashMap<>();
    all.put("Jobs", jobs.health().problems());
    all.put("Streams", streams.problems());
    disk.map(DiskSpace::problems)
        .filter(found -> !found.isEmpty())
        .ifPresent(found -> all.put("Disk", found));
    return all;
  }

  /** A key made at this start, to be shown once. */
  Optional<Secret> firstOperatorKey() {
    return firstOperatorKey;
  }

  /** The built-in gateway, unless payments go elsewhere. */
  Optional<Gateway> gateway() {
    return provider.gateway();
  }

  /** End what works by itself, jobs and streams, and hand this node's share over. */
  List<StopTime.Ending> workEndings() {
    return List.of(within -> jobs.endWork(), within -> streams.close());
  }

  @Override
  public void close() {
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception e) {
        log.warn("While stopping: {}", e.toString());
      }
    }
  }

  private <T extends AutoCloseable> T opened(T resource) {
    opened.push(resource);
    return resource;
  }
}
