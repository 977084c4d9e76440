package dev.lockstep.prove.fault;

import dev.lockstep.migration.Migrations;
import dev.lockstep.postgres.PostgresConfig;
import dev.lockstep.postgres.PostgresServer;
import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.node.Answer;
import dev.lockstep.prove.node.NodeMain;
import dev.lockstep.prove.node.NodeSettings;
import dev.lockstep.prove.node.ShopMain;
import dev.lockstep.prove.node.ShopSettings;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/** A PostgreSQL with fsync on, and nodes that reach it through a proxy each. */
public final class Cluster implements AutoCloseable {
  /** Short, so that a pause outlasts it soon. */
  public static final Duration LEASE = Duration.ofSeconds(2);

  private static final Duration START_PATIENCE = Duration.ofSeconds(60);
  private static final int START_ATTEMPTS = 3;

  private static final String SHOP = "_shop";
  private static final String BANK = "_bank";
  private static final long SETTLE_STEP_MS = 50;
  private static final int SETTLE_STEPS = 1_200;

  private static final String TABLES =
      """
      CREATE SCHEMA prove;
      CREATE TABLE prove.effect (key text NOT NULL, op text NOT NULL);
      CREATE INDEX ON prove.effect (key text_pattern_ops);
      CREATE TABLE prove.done (
        job text NOT NULL, name text NOT NULL, run text NOT NULL, due bigint NOT NULL,
        at timestamptz NOT NULL DEFAULT clock_timestamp());
      CREATE INDEX ON prove.done (name text_pattern_ops);
      CREATE TABLE prove.list (key bigint PRIMARY KEY, items bigint[] NOT NULL);
      """;

  private final PostgresServer server;
  private final Path folder;
  private final ExecutorService threads;
  private final List<Line> lines = new ArrayList<>();
  private final List<@Nullable NodeProcess> nodes = new ArrayList<>();
  // The last of the nodes are shops.
  private final int[] shopPorts;
  private final ShopPorts ports = new ShopPorts();
  private @Nullable Bank bank;
  private final AtomicInteger lives = new AtomicInteger();
  private final Coverage coverage;
  private final NodeProcess.Listener relayed = new Relayed();
  private volatile NodeListener listener = new NodeListener() {};
  private volatile String database = "lockstep";

  /** Hears what nodes report or ask unprompted. */
  public interface NodeListener {
    default void told(int node, String verb, Fields fields) {}

    default Fields asked(int node, String verb, Fields fields) {
      return Fields.of("result", "ok");
    }
  }

  private final class Relayed implements NodeProcess.Listener {
    @Override
    public void told(int node, String verb, Fields fields) {
      listener.told(node, verb, fields);
    }

    @Override
    public Fields asked(int node, String verb, Fields fields) {
      return listener.asked(node, verb, fields);
    }
  }

  private Cluster(
      PostgresServer server, Path folder, int nodeCount, int shopCount, Coverage coverage) {
    this.server = server;
    this.shopPorts = new int[shopCount];
    this.folder = folder;
    this.coverage = coverage;
    this.threads =
        Executors.newCachedThreadPool(
            task -> {
              Thread thread = new Thread(task, "cluster");
              thread.setDaemon(true);
              return thread;
            });
    for (int i = 0; i < nodeCount + shopCount; i++) {
      lines.add(new Line(server.port(), coverage));
      nodes.add(null);
    }
  }

  /**
   * Starts the database; the nodes come with {@link #newDatabase}.
   *
   * @param nodes that use the library
   * @param shops servers with a payment provider
   */
  public static Cluster start(Path folder, int nodes, int shops, Coverage coverage)
      throws IOException {
    Path binaries =
        Path.of(
            System.getProperty("java.io.tmpdir"),
            "lockstep-postgres-" + System.getProperty("user.name"));
    PostgresConfig config =
        PostgresConfig.durable(Files.createDirectories(folder.resolve("database")))
            .withBinariesDirectory(binaries)
            .withSetting("shared_buffers", "256MB")
            .withSetting("max_connections", "250")
            .withSetting("min_wal_size", "128MB")
            .withSetting("max_wal_size", "512MB");
    return new Cluster(PostgresServer.start(config), folder, nodes, shops, coverage);
  }

  /** Makes an empty, migrated database and starts the nodes on it. */
  public void newDatabase(String name) throws SQLException, InterruptedException {
    stopNodes();
    String before = database;
    database = name;
    execute("postgres", "CREATE DATABASE " + name);
    PGSimpleDataSource fresh = new PGSimpleDataSource();
    fresh.setUrl(server.url(name));
    fresh.setUser(server.user());
    fresh.setPassword(server.password());
    Migrations.apply(fresh);
    execute(name, TABLES + SlowCommit.SCHEMA);
    if (shopPorts.length > 0) {
      openShops(name);
    }
    if (!before.equals("lockstep")) {
      for (String suffix : List.of("", SHOP, BANK)) {
        execute("postgres", "DROP DATABASE IF EXISTS " + before + suffix + " WITH (FORCE)");
      }
    }
    for (int i = 0; i < lines.size(); i++) {
      begin(i);
    }
    awaitNodes();
  }

  /** Prepares databases, ports and the bank, before the shops run. */
  private void openShops(String name) throws SQLException {
    execute("postgres", "CREATE DATABASE " + name + SHOP);
    execute("postgres", "CREATE DATABASE " + name + BANK);
    execute(name + SHOP, "CREATE SCHEMA prove;" + SlowCommit.SCHEMA);
    for (int i = 0; i < shopPorts.length; i++) {
      shopPorts[i] = ports.free();
    }
    bank = new Bank(server.url(name + BANK), server.user(), server.password(), shopPorts[0]);
  }

  /** The payment provider; empty without shops. */
  public Optional<Bank> bank() {
    return Optional.ofNullable(bank);
  }

  public int shops() {
    return shopPorts.length;
  }

  /** A shop's address. */
  public URI shopUrl(int shop) {
    return URI.create("http://127.0.0.1:" + shopPorts[shop]);
  }

  /** The shop's node number. */
  public int shopNode(int shop) {
    return size() + shop;
  }

  public void listener(NodeListener hears) {
    listener = hears;
  }

  /** Changes statements on their way to the database, from each new connection on. */
  public void rewriting(@Nullable UnaryOperator<String> how) {
    lines.forEach(line -> line.rewriting(how));
  }

  /** How many nodes use the library; they come first. */
  public int size() {
    return lines.size() - shopPorts.length;
  }

  /** How many nodes there are, with the shops. */
  int lines() {
    return lines.size();
  }

  public Coverage coverage() {
    return coverage;
  }

  PostgresServer server() {
    return server;
  }

  Line line(int node) {
    return lines.get(node);
  }

  @Nullable NodeProcess node(int node) {
    synchronized (nodes) {
      return nodes.get(node);
    }
  }

  /** Starts a node's next process if this one is still its last; returns at once. */
  void replace(int node, @Nullable NodeProcess ended) {
    synchronized (nodes) {
      if (nodes.get(node) == ended) {
        begin(node);
      }
    }
  }

  private void begin(int node) {
    Path log = folder.resolve("node-" + node + ".log");
    NodeProcess next =
        node < size()
            ? NodeProcess.start(node, NodeMain.class, argument(node), log, relayed, threads)
            : NodeProcess.start(node, ShopMain.class, argument(node), log, relayed, threads);
    synchronized (nodes) {
      nodes.set(node, next);
    }
  }

  private String argument(int node) {
    int port = lines.get(node).proxy().port();
    if (node < size()) {
      String name = "node-%d.%d".formatted(node, lives.incrementAndGet());
      return new NodeSettings(name, port, database, server.user(), server.password(), LEASE)
          .argument();
    }
    int bankPort = bank().orElseThrow().port();
    return new ShopSettings(
            shopPorts[node - size()],
            port,
            bankPort,
            database + SHOP,
            server.user(),
            server.password())
        .argument();
  }

  /** Whether a node runs and takes calls. */
  public boolean isReady(int node) {
    NodeProcess process = node(node);
    return process != null && process.isReady();
  }

  /** Calls a node. */
  public Answer call(int node, String verb, Fields fields, Duration patience)
      throws InterruptedException {
    NodeProcess process = node(node);
    return process == null
        ? Answer.failed("the node is down")
        : process.call(verb, fields, patience);
  }

  /** Runs one or more statements past all proxies. */
  public void execute(String sql) throws SQLException {
    execute(database, sql);
  }

  private void execute(String where, String sql) throws SQLException {
    try (Connection connection = connect(where);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  Connection connect() throws SQLException {
    return connect(database);
  }

  private Connection connect(String where) throws SQLException {
    return DriverManager.getConnection(
        server.url(where) + "?socketTimeout=60&connectTimeout=10&ApplicationName=driver",
        server.user(),
        server.password());
  }

  private void awaitNodes() throws InterruptedException {
    for (int i = 0; i < lines.size(); i++) {
      boolean isReady = false;
      for (int attempt = 1; attempt <= START_ATTEMPTS && !isReady; attempt++) {
        revive();
        NodeProcess process = node(i);
        isReady = process != null && process.awaitReady(START_PATIENCE);
      }
      if (!isReady) {
        throw new IllegalStateException(
            "Node " + i + " does not start; its log is " + folder.resolve("node-" + i + ".log"));
      }
    }
  }

  /** Ends every fault: everything passes, the database runs, every node runs. */
  public void heal() throws InterruptedException {
    lines.forEach(Line::heal);
    bank().ifPresent(Bank::heal);
    // A node starting on a connection that lost bytes would wait for ever.
    lines.forEach(Line::cut);
    revive();
    awaitNodes();
    // A connection that lost bytes, or that nothing reads any more, would hang its node.
    lines.forEach(Line::cut);
  }

  /** Restarts the nodes that have ended, perhaps by a fault during their start. */
  void revive() {
    for (int i = 0; i < lines.size(); i++) {
      NodeProcess process = node(i);
      if (process == null || process.isGone()) {
        replace(i, process);
      }
    }
  }

  /** Waits until no session of an earlier fault is still at work. */
  public void settle() throws SQLException, InterruptedException {
    String busy =
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname LIKE current_database() || '%' AND pid <> pg_backend_pid()
          AND backend_type = 'client backend' AND xact_start < now() - interval '3 seconds'""";
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      for (int i = 0; i < SETTLE_STEPS; i++) {
        try (ResultSet row = statement.executeQuery(busy)) {
          row.next();
          if (row.getInt(1) == 0) {
            return;
          }
        }
        TimeUnit.MILLISECONDS.sleep(SETTLE_STEP_MS);
      }
    }
    throw new IllegalStateException("A transaction does not end");
  }

  private void stopNodes() throws InterruptedException {
    for (int i = 0; i < lines.size(); i++) {
      NodeProcess process = node(i);
      if (process != null) {
        process.kill();
      }
      lines.get(i).heal();
      lines.get(i).cut();
    }
    bank().ifPresent(Bank::close);
    bank = null;
  }

  @Override
  public void close() {
    try {
      stopNodes();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    lines.forEach(Line::close);
    threads.shutdownNow();
    server.close();
  }
}
