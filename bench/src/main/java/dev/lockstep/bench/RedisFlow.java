package dev.lockstep.bench;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A Redis script that takes one from stock and records the buyer, on a real redis-server that syncs
 * every write to disk. No limit, audit, expiry or money.
 */
final class RedisFlow implements AutoCloseable {
  private static final String SCRIPT =
      """
      if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return 2 end
      local stock = tonumber(redis.call('GET', KEYS[1]))
      if stock < 1 then return 0 end
      redis.call('DECR', KEYS[1])
      redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
      return 1""";

  private final Process server;
  private final Path directory;
  private final RedisClient client;
  private final StatefulRedisConnection<String, String> connection;
  private final String digest;

  private RedisFlow(Process server, Path directory, int port) {
    this.server = server;
    this.directory = directory;
    this.client =
        RedisClient.create(
            RedisURI.Builder.redis("127.0.0.1", port).withTimeout(Duration.ofMinutes(1)).build());
    this.connection = client.connect();
    this.digest = connection.sync().scriptLoad(SCRIPT);
  }

  static boolean available() {
    return Stream.of(System.getenv("PATH").split(File.pathSeparator))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, "redis-server")));
  }

  static RedisFlow start() throws IOException {
    Path directory = Files.createTempDirectory("lockstep-redis");
    int port = freePort();
    Process server =
        new ProcessBuilder(
                List.of(
                    "redis-server",
                    "--port",
                    String.valueOf(port),
                    "--bind",
                    "127.0.0.1",
                    "--save",
                    "",
                    "--appendonly",
                    "yes",
                    "--appendfsync",
                    "always",
                    "--dir",
                    directory.toString()))
            .redirectErrorStream(true)
            .start();
    // Reads its log for readiness, without polling or sleeping.
    try (var log = server.inputReader()) {
      String line;
      while ((line = log.readLine()) != null) {
        if (line.contains("Ready to accept connections")) {
          return new RedisFlow(server, directory, port);
        }
      }
    }
    throw new IOException("redis-server ended before it was ready");
  }

  /** Sets up stock under new keys. */
  void reset(String run) {
    connection.sync().set("stock:" + run, "100000000");
  }

  long sold(String run) {
    long taken = 100_000_000 - Long.parseLong(connection.sync().get("stock:" + run));
    return taken == connection.sync().hlen("buyers:" + run) ? taken : -1;
  }

  void take(String run, String buyer, String key) {
    Long answer =
        connection
            .sync()
            .evalsha(
                digest,
                ScriptOutputType.INTEGER,
                new String[] {"stock:" + run, "buyers:" + run},
                key,
                buyer);
    if (answer != 1) {
      throw new IllegalStateException("The script answered " + answer);
    }
  }

  @Override
  public void close() throws IOException {
    connection.close();
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    server.destroy();
    try {
      if (!server.waitFor(10, TimeUnit.SECONDS)) {
        server.destroyForcibly();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
