package dev.lockstep.server.config;

import dev.lockstep.server.campaign.HoldRules;
import dev.lockstep.server.database.DatabaseAddress;
import dev.lockstep.server.database.DatabaseSettings;
import dev.lockstep.server.edge.EdgeConfig;
import dev.lockstep.server.key.Secret;
import dev.lockstep.server.setting.Kind;
import dev.lockstep.server.setting.SettingReader;
import dev.lockstep.server.setting.SettingValue;
import dev.lockstep.server.setting.Sources;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The configuration of {@code up}. {@link #read} is the table of settings: each part of the server
 * reads, and thereby declares, its own.
 *
 * @param host the interface to listen on; default loopback
 * @param port where to listen, 0 for any free port; default 8080
 * @param data the embedded database's folder; default {@code ~/.lockstep}
 * @param externalDatabase the user's own PostgreSQL; empty for the embedded one
 * @param operatorKey may do everything; empty: one is created at the first start
 * @param samples whether a new database gets sample campaigns
 * @param visitors whether the shop sells to people without a key; by default only with the embedded
 *     database
 * @param lab whether the concurrency lab may create a database; by default only with the embedded
 *     database
 * @param listen whether a dedicated connection waits for notifications of new jobs; not behind a
 *     pooler in transaction mode
 * @param kafka the brokers' addresses, host:port separated by commas; empty: no Kafka sinks
 * @param process memory and log
 * @param database how the database is used
 * @param blocks the settings of core's blocks
 * @param holdRules bounds of campaigns' holds
 * @param edge limits, rates and trust at the network
 * @param payments the payment provider
 * @param deliveries how webhooks and mail are delivered
 */
public record ServerConfig(
    String host,
    int port,
    Path data,
    Optional<DatabaseAddress> externalDatabase,
    Optional<Secret> operatorKey,
    boolean samples,
    boolean visitors,
    boolean lab,
    boolean listen,
    Optional<String> kafka,
    ProcessSettings process,
    DatabaseSettings database,
    BlockSettings blocks,
    HoldRules holdRules,
    EdgeConfig edge,
    PaymentSettings payments,
    DeliverySettings deliveries) {
  public static final String DEFAULT_HOST = "127.0.0.1";
  private static final int MIN_PUBLIC_KEY_LENGTH = 16;
  private static final int DEFAULT_PORT = 8080;

  /** Jobs and relay: the pool's connections besides those of batches and request threads. */
  private static final int OTHER_CONNECTIONS = 4;

  private static final Kind<DatabaseAddress> DATABASE =
      Kind.of(
          "a JDBC URL of PostgreSQL, 14 to 18",
          "jdbc:postgresql://localhost:5432/shop",
          DatabaseAddress::external,
          DatabaseAddress::place);

  private static final Kind<Path> FOLDER =
      Kind.of("a folder", "/srv/lockstep", ServerConfig::path, Path::toString);

  private static final Kind<Secret> KEY =
      Kind.of(
          "1 to 512 printable ASCII characters without spaces",
          "sixteen-letters!",
          ServerConfig::key,
          secret -> "hidden");

  private static final Kind<String> BROKERS =
      Kind.text(
          "[^\\s,:]+:\\d{1,5}(,[^\\s,:]+:\\d{1,5})*",
          "host:port, several with commas between",
          "localhost:9092");

  /**
   * Reads the whole configuration.
   *
   * @throws dev.lockstep.server.setting.WrongSettings with everything that is wrong
   */
  public static ServerConfig of(Sources sources) {
    return table(sources).config();
  }

  /**
   * The configuration and its settings.
   *
   * @param warnings settings that are valid but probably not intended
   */
  public record Table(ServerConfig config, List<SettingValue> values, List<String> warnings) {}

  /**
   * Reads the whole configuration and tells where each setting came from.
   *
   * @throws dev.lockstep.server.setting.WrongSettings with everything that is wrong
   */
  public static Table table(Sources sources) {
    SettingReader in = new SettingReader(sources);
    ServerConfig config;
    try {
      config = read(in);
    } catch (IllegalArgumentException e) {
      throw in.refused(e);
    }
    return new Table(config, in.finish(), in.warnings());
  }

  /**
   * Reads every setting there is. A part with its own configuration record is read here, with the
   * record's defaults, and checked against the others below.
   */
  private static ServerConfig read(SettingReader in) {
    in.group("Server");
    Optional<Secret> operatorKey =
        in.readSecret(
            "operator.key",
            KEY,
            "one is created at the first start and printed once",
            "The operator's key, which may do everything.");
    String host = host(in, operatorKey);
    int port =
        in.read(
            "port", Kind.number(0, 65_535), DEFAULT_PORT, "Where to listen; 0 picks a free port.");
    Optional<Path> home = home(in);
    Path data =
        in.read(
            "data",
            FOLDER,
            home.orElse(Path.of(".lockstep")),
            "~/.lockstep",
            "Where the embedded database lives.");
    Optional<DatabaseAddress> database =
        in.readOptional(
            "database.url",
            DATABASE,
            "the embedded database",
            "Your own PostgreSQL, 14 to 18; prefer the variable when the URL holds a password.");
    boolean embedded = database.isEmpty();
    if (embedded && home.isEmpty() && in.source("data").isEmpty()) {
      in.problem("this user has no home folder; say where to keep data with --data");
    }
    String withEmbedded = "true with the embedded database, else false";
    boolean samples =
        in.read("samples", Kind.yesOrNo(), true, "Whether a new database gets sample campaigns.");
    boolean visitors =
        in.read(
            "visitors",
            Kind.yesOrNo(),
            embedded,
            withEmbedded,
            "Whether people without a key may buy in the shop.");
    boolean lab =
        in.read(
            "lab",
            Kind.yesOrNo(),
            embedded,
            withEmbedded,
            "Whether the lab may create a database for its races.");
    boolean listen =
        in.read(
            "listen",
            Kind.yesOrNo(),
            true,
            "Whether to use notifications of new jobs and events; not through a pooler in"
                + " transaction mode.");
    Optional<String> kafka =
        in.readOptional(
            "kafka.bootstrap", BROKERS, "no sinks in Kafka", "The addresses of Kafka's brokers.");
    ProcessSettings process = ProcessSettings.read(in);
    DatabaseSettings databaseUse = DatabaseSettings.read(in);
    EdgeConfig edge = EdgeSettings.read(in, databaseUse.transactions().deadline());
    HoldRules holdRules = HoldRules.read(in);
    BlockSettings blocks = BlockSettings.read(in, databaseUse.transactions());
    PaymentSettings payments = PaymentSettings.read(in);
    DeliverySettings deliveries = DeliverySettings.read(in);
    checkConnections(in, databaseUse, blocks);
    in.require(
        blocks.claims().maxWait().compareTo(edge.limits().answerTimeout()) < 0,
        "claim.max-wait",
        "must be shorter than",
        "http.answer-timeout",
        "a claim that waits that long would be answered 503");
    in.require(
        databaseUse.workers().reportTimeout().compareTo(edge.limits().answerTimeout()) < 0,
        "report.timeout",
        "must be shorter than",
        "http.answer-timeout",
        "a report that takes that long would be given up without saying so");
    in.require(
        blocks.once().keepFor().compareTo(holdRules.max()) >= 0,
        "retention.answers",
        "must not be shorter than",
        "hold.max",
        "a purchase under way would forget its Idempotency-Key");
    return new ServerConfig(
        host,
        port,
        data,
        database,
        operatorKey,
        samples,
        visitors,
        lab,
        listen,
        kafka,
        process,
        databaseUse,
        blocks,
        holdRules,
        edge,
        payments,
        deliveries);
  }

  /** A batch that waited for a connection would delay everyone queued behind it. */
  private static void checkConnections(
      SettingReader in, DatabaseSettings database, BlockSettings blocks) {
    int needed =
        blocks.holds().combiner().maxWriters()
            + blocks.ledger().combiner().maxWriters()
            + database.workers().threads()
            + OTHER_CONNECTIONS;
    if (database.poolSize() < needed) {
      in.problem(
          "pool.size (%d) must be at least hold.writers + ledger.writers + request.threads + %d, which is %d"
              .formatted(database.poolSize(), OTHER_CONNECTIONS, needed));
    }
  }

  /** A server that other machines can reach needs a good key chosen by its operator. */
  private static String host(SettingReader in, Optional<Secret> operatorKey) {
    String host =
        in.read(
            "host",
            Kind.of("an address of this machine", "localhost", ServerConfig::address, text -> text),
            DEFAULT_HOST,
            "The interface to listen on; one that others can reach needs an operator's key of %d characters or more."
                .formatted(MIN_PUBLIC_KEY_LENGTH));
    boolean safe =
        operatorKey.filter(key -> key.reveal().length() >= MIN_PUBLIC_KEY_LENGTH).isPresent();
    if (!safe && !isLoopback(host)) {
      in.problem(
          "%s %s can be reached from other machines; set LOCKSTEP_OPERATOR_KEY, %d characters or more, first"
              .formatted(in.source("host").orElse("host"), host, MIN_PUBLIC_KEY_LENGTH));
    }
    return host;
  }

  private static boolean isLoopback(String host) {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  private static String address(String text) {
    try {
      var unused = InetAddress.getByName(text);
      return text;
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("is no address of this machine: '" + text + "'", e);
    }
  }

  private static Secret key(String text) {
    if (!text.matches("[\\x21-\\x7e]{1,512}")) {
      throw new IllegalArgumentException();
    }
    return Secret.of(text);
  }

  private static Path path(String text) {
    try {
      return Path.of(text).toAbsolutePath().normalize();
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException("is not a folder name", e);
    }
  }

  /**
   * The shell's meaning of {@code ~}; the JVM looks elsewhere, and returns "?" for an unknown user.
   */
  private static Optional<Path> home(SettingReader in) {
    return in.environment("HOME")
        .or(() -> Optional.of(System.getProperty("user.home", "?")))
        .filter(home -> !home.equals("?"))
        .map(home -> Path.of(home, ".lockstep"));
  }

  public ServerConfig withExternalDatabase(DatabaseAddress address) {
    return with(Optional.of(address), edge, payments, deliveries);
  }

  public ServerConfig withPayments(PaymentSettings others) {
    return with(externalDatabase, edge, others, deliveries);
  }

  public ServerConfig withDeliveries(DeliverySettings others) {
    return with(externalDatabase, edge, payments, others);
  }

  public ServerConfig withEdge(EdgeConfig other) {
    return with(externalDatabase, other, payments, deliveries);
  }

  private ServerConfig with(
      Optional<DatabaseAddress> address,
      EdgeConfig edge,
      PaymentSettings payments,
      DeliverySettings deliveries) {
    return new ServerConfig(
        host,
        port,
        data,
        address,
        operatorKey,
        samples,
        visitors,
        lab,
        listen,
        kafka,
        process,
        database,
        blocks,
        holdRules,
        edge,
        payments,
        deliveries);
  }
}
