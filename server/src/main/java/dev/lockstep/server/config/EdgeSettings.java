package dev.lockstep.server.config;

import dev.lockstep.server.api.BodyLimits;
import dev.lockstep.server.edge.AddressRange;
import dev.lockstep.server.edge.EdgeConfig;
import dev.lockstep.server.edge.HttpLimits;
import dev.lockstep.server.edge.MemoryLimits;
import dev.lockstep.server.edge.OpenTo;
import dev.lockstep.server.edge.ProxyHeader;
import dev.lockstep.server.edge.Trust;
import dev.lockstep.server.key.Secret;
import dev.lockstep.server.rate.Rate;
import dev.lockstep.server.rate.RateLimits;
import dev.lockstep.server.setting.Kind;
import dev.lockstep.server.setting.SettingReader;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Reads the settings of the edge. */
final class EdgeSettings {
  private static final int MAX_CONNECTIONS = 1_000_000;
  private static final Kind<Integer> CONNECTIONS = Kind.number(1, MAX_CONNECTIONS);
  private static final Kind<Duration> TIMEOUT =
      Kind.duration(Duration.ofMillis(100), Duration.ofHours(1));

  /** A long poll waits for a minute at most. */
  private static final Duration LONGER_THAN_A_POLL = Duration.ofSeconds(65);

  private static final Kind<Long> SIZE = Kind.size(1_024, 1024 * 1024);

  private static final Kind<Long> MEMORY =
      Kind.size(MemoryLimits.MIN_BYTES, 1024L * 1024 * 1024 * 1024);

  private static final Kind<List<AddressRange>> RANGES =
      Kind.of(
          "addresses or ranges such as 10.0.0.0/8, with commas between",
          "10.0.0.0/8,2001:db8::1",
          text ->
              Arrays.stream(text.split(",", -1)).map(String::strip).map(AddressRange::of).toList(),
          ranges -> ranges.stream().map(AddressRange::toString).collect(Collectors.joining(",")));

  private static final Kind<Set<String>> HOSTS =
      Kind.of(
          "names of hosts without ports, with commas between",
          "shop.example",
          EdgeSettings::hosts,
          hosts -> String.join(",", new TreeSet<>(hosts)));

  private static final Kind<OpenTo> READERS =
      new Kind<>(
          "one of nobody, loopback, everybody",
          List.of(OpenTo.values()),
          text -> OpenTo.valueOf(text.toUpperCase(Locale.ROOT)),
          readers -> readers.name().toLowerCase(Locale.ROOT));

  private static final Kind<ProxyHeader> HEADER =
      new Kind<>(
          "one of x-forwarded, forwarded, either",
          List.of(ProxyHeader.values()),
          text -> ProxyHeader.valueOf(text.toUpperCase(Locale.ROOT).replace('-', '_')),
          header -> header.name().toLowerCase(Locale.ROOT).replace('_', '-'));

  private static final Kind<Secret> TOKEN =
      Kind.of(
          "16 to 512 printable ASCII characters without spaces",
          "sixteen-letters!",
          EdgeSettings::token,
          secret -> "hidden");

  private EdgeSettings() {}

  static EdgeConfig read(SettingReader in, Duration deadline) {
    return new EdgeConfig(limits(in, deadline), rates(in), trust(in));
  }

  private static HttpLimits limits(SettingReader in, Duration deadline) {
    in.group("HTTP");
    HttpLimits usual = HttpLimits.DEFAULT;
    int loops =
        in.read(
            "http.event-loops",
            Kind.number(1, 256),
            usual.eventLoops(),
            "one per processor",
            "How many threads serve HTTP.");
    int connections =
        in.read(
            "http.connections",
            CONNECTIONS,
            usual.connections(),
            "How many connections may be open at once.");
    int perAddress =
        in.read(
            "http.connections-per-address",
            CONNECTIONS,
            usual.connectionsPerAddress(),
            "How many of these one address may have; trusted proxies have no bound of their own.");
    int watchers =
        in.read(
            "live.streams",
            CONNECTIONS,
            usual.watchers(),
            "How many live streams may be open at once.");
    int watchersPerAddress =
        in.read(
            "live.streams-per-address",
            CONNECTIONS,
            usual.watchersPerAddress(),
            "How many of these one address may have.");
    Duration head =
        timeout(in, "head", usual.headTimeout(), "How long the headers of a request may take.");
    Duration bodyTime =
        timeout(in, "body", usual.bodyTimeout(), "How long the body of a request may take.");
    Duration answer =
        in.read(
            "http.answer-timeout",
            Kind.duration(LONGER_THAN_A_POLL, Duration.ofHours(1)),
            usual.answerTimeout(),
            "How long a request may wait for its answer; long polls wait for a minute.");
    Duration idle =
        timeout(
            in,
            "idle",
            usual.idleTimeout(),
            "How long a connection may wait for its next request; longer than proxies keep theirs.");
    Duration stall =
        timeout(
            in, "stall", usual.stallTimeout(), "How long a client may stop reading its answer.");
    long line =
        in.read(
            "http.request-line",
            SIZE,
            (long) usual.requestLineBytes(),
            "How long method, target and version of a request may be.");
    long headers =
        in.read(
            "http.headers",
            SIZE,
            (long) usual.headerBytes(),
            "How large all headers of a request may be.");
    long body =
        in.read(
            "http.body",
            Kind.size(1_024, 1024 * 1024),
            (long) usual.bodies().bytes(),
            "How large the body of a request may be.");
    long largeBody =
        in.read(
            "http.large-body",
            Kind.size(1024 * 1024, 64 * 1024 * 1024),
            (long) usual.bodies().largeBytes(),
            "How large it may be for many items at once, such as events.");
    in.require(
        answer.compareTo(deadline) >= 0,
        "http.answer-timeout",
        "must not be shorter than",
        "transaction.deadline",
        "requests would be given up that are still tried");
    requireWithin(in, perAddress, "http.connections-per-address", connections, "http.connections");
    requireWithin(in, watchers, "live.streams", connections, "http.connections");
    requireWithin(in, watchersPerAddress, "live.streams-per-address", watchers, "live.streams");
    requireWithin(
        in,
        watchersPerAddress,
        "live.streams-per-address",
        perAddress,
        "http.connections-per-address");
    MemoryLimits memory = memory(in, largeBody);
    return new HttpLimits(
        loops,
        connections,
        perAddress,
        watchers,
        watchersPerAddress,
        head,
        bodyTime,
        answer,
        idle,
        stall,
        (int) line,
        (int) headers,
        new BodyLimits((int) body, (int) largeBody),
        memory);
  }

  private static MemoryLimits memory(SettingReader in, long largeBody) {
    MemoryLimits usual = MemoryLimits.DEFAULT;
    long bodies =
        in.read(
            "http.bodies",
            MEMORY,
            Math.max(usual.bodies(), largeBody),
            "an eighth of the heap",
            "How many bytes the bodies of all requests in flight may take.");
    long bodiesPerAddress =
        in.read(
            "http.bodies-per-address",
            MEMORY,
            Math.max(bodies / 4, Math.min(bodies, largeBody)),
            "a quarter of that",
            "How many of these bytes one address may take.");
    long unsent =
        in.read(
            "http.unsent",
            MEMORY,
            usual.unsent(),
            "an eighth of the heap",
            "How many bytes of answers may be unsent.");
    long unsentPerAddress =
        in.read(
            "http.unsent-per-address",
            MEMORY,
            Math.max(unsent / 4, MemoryLimits.MIN_BYTES),
            "a quarter of that",
            "How many unsent bytes one address may have.");
    in.require(
        largeBody <= bodiesPerAddress,
        "http.large-body",
        "must not exceed",
        "http.bodies-per-address",
        "such a body would never be read");
    requireWithin(in, bodiesPerAddress, "http.bodies-per-address", bodies, "http.bodies");
    requireWithin(in, unsentPerAddress, "http.unsent-per-address", unsent, "http.unsent");
    return new MemoryLimits(bodies, bodiesPerAddress, unsent, unsentPerAddress);
  }

  private static Duration timeout(SettingReader in, String step, Duration usual, String meaning) {
    return in.read("http." + step + "-timeout", TIMEOUT, usual, meaning);
  }

  private static void requireWithin(
      SettingReader in, long part, String name, long whole, String other) {
    in.require(part <= whole, name, "must not exceed", other, "it could never be reached");
  }

  private static RateLimits rates(SettingReader in) {
    in.group("Rate limits");
    RateLimits usual = RateLimits.DEFAULT;
    Rate buyer = in.read("rate.buyer", rate("20/40"), usual.buyer(), "Requests per buyer key.");
    Optional<Rate> service =
        in.readOptional("rate.service", rate("500/1000"), "no limit", "Requests per service key.");
    Optional<Rate> operator =
        in.readOptional("rate.operator", rate("50/100"), "no limit", "Requests per operator key.");
    Rate anonymous =
        in.read(
            "rate.anonymous",
            rate("200/1000"),
            usual.anonymous(),
            "Requests without a key or by visitors, per address.");
    Rate unknownKeys =
        in.read(
            "rate.unknown-keys",
            rate("10/20"),
            usual.unknownKeys(),
            "Requests with an unknown key, per address.");
    Rate visitors =
        in.read(
            "rate.visitors",
            rate("10/50"),
            usual.visitors(),
            "New visitors of the shop, per address.");
    Rate lab =
        in.read(
            "rate.lab", rate("5/20"), usual.lab(), "Runs of the lab, per key, else per address.");
    in.require(
        unknownKeys.perSecond() <= anonymous.perSecond(),
        "rate.unknown-keys",
        "must not exceed",
        "rate.anonymous",
        "a wrong key would be better than none");
    return new RateLimits(buyer, service, operator, anonymous, unknownKeys, visitors, lab);
  }

  private static Kind<Rate> rate(String example) {
    return Kind.of(
        "how many a second, and how many at once after a pause, such as " + example,
        example,
        EdgeSettings::parsed,
        rate -> rate.perSecond() + "/" + rate.burst());
  }

  private static Rate parsed(String text) {
    if (!text.matches("[0-9]{1,8}/[0-9]{1,8}")) {
      throw new IllegalArgumentException();
    }
    String[] parts = text.split("/", -1);
    try {
      return new Rate(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("does not fit: " + e.getMessage(), e);
    }
  }

  private static Trust trust(SettingReader in) {
    in.group("Trust");
    List<AddressRange> proxies =
        in.readOptional(
                "trust.proxies",
                RANGES,
                "nobody",
                "The proxies trusted to name the client's address, scheme and host.")
            .orElse(List.of());
    ProxyHeader header =
        in.read(
            "trust.header",
            HEADER,
            Trust.DEFAULT.header(),
            "The headers that those proxies write: X-Forwarded-For, -Proto and -Host, or Forwarded."
                + " Either: those that are there, unless they disagree.");
    Set<String> hosts =
        in.readOptional("trust.hosts", HOSTS, "any", "The host names that the server serves.")
            .orElse(Set.of());
    OpenTo open =
        in.read(
            "metrics.open-to",
            READERS,
            Trust.DEFAULT.openTo(),
            "Who sees /metrics and the details of /status without a key; loopback is programs on"
                + " this machine.");
    Optional<Secret> token =
        in.readSecret(
            "metrics.token",
            TOKEN,
            "only operators' keys",
            "A bearer token that may read /metrics and nothing else.");
    return new Trust(proxies, header, hosts, open, token);
  }

  private static Set<String> hosts(String text) {
    Set<String> names =
        Arrays.stream(text.split(",", -1)).map(String::strip).collect(Collectors.toSet());
    try {
      return Trust.DEFAULT.withHosts(names.toArray(String[]::new)).hosts();
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException();
    }
  }

  private static Secret token(String text) {
    if (!text.matches("[\\x21-\\x7e]{16,512}")) {
      throw new IllegalArgumentException();
    }
    return Secret.of(text);
  }
}
