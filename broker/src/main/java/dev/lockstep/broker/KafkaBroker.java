package dev.lockstep.broker;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.Uuid;

/**
 * A running broker. {@link #close} ends it and deletes its data; it also ends with its parent
 * process. Thread-safe.
 *
 * <p>With Kafka's default settings it does not wait for the disk: an acknowledged record is in the
 * operating system's memory.
 */
public final class KafkaBroker implements AutoCloseable {
  private static final int MAX_STARTS = 3;
  private static final int LAST_LINES = 30;
  private static final long END_SECONDS = 30;

  private final Path directory;
  private final String clusterId = Uuid.randomUuid().toString();
  private final int port;
  private final int controllerPort;
  private Process process;

  private KafkaBroker(Path directory) throws IOException {
    this.directory = directory;
    this.port = freePort();
    this.controllerPort = freePort();
    this.process = launch();
  }

  /**
   * Starts a broker with an empty temporary folder, and waits until it answers.
   *
   * @throws UncheckedIOException if it does not come up
   */
  public static KafkaBroker start() {
    for (int tried = 1; ; tried++) {
      Path directory = null;
      try {
        directory = Files.createTempDirectory("lockstep-kafka");
        return new KafkaBroker(directory);
      } catch (IOException e) {
        if (directory != null) {
          delete(directory);
        }
        // Another program may have taken a port that was free a moment ago.
        if (tried == MAX_STARTS) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }

  /** Where clients connect. */
  public String bootstrapServers() {
    return "127.0.0.1:" + port;
  }

  /** Creates a topic, with settings such as {@code max.message.bytes}. */
  public void createTopic(String name, int partitions, Map<String, String> settings) {
    try (Admin admin =
        Admin.create(
            Map.<String, Object>of(
                AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers()))) {
      NewTopic topic = new NewTopic(name, Optional.of(partitions), Optional.of((short) 1));
      admin.createTopics(List.of(topic.configs(settings))).all().get();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Ends it like {@code kill -9}. Its data stays for {@link #restart}. */
  public synchronized void kill() {
    process.destroyForcibly();
    try {
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("The broker did not end within 30 s");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Starts it again after {@link #kill}, at the same address. */
  public synchronized void restart() {
    try {
      process = launch();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    kill();
    delete(directory);
  }

  private Process launch() throws IOException {
    Path settings = directory.resolve("server.properties");
    Files.writeString(settings, settings());
    Path logging = directory.resolve("logback.xml");
    Files.writeString(logging, LOGGING);
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx512m", "-XX:+UseSerialGC"));
    command.add("-Dlogback.configurationFile=" + logging);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(BrokerProcess.class.getName(), settings.toString(), clusterId));
    command.add(bootstrapServers());
    Process started = new ProcessBuilder(command).redirectErrorStream(true).start();
    List<String> lines = new ArrayList<>();
    BufferedReader out = started.inputReader();
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      if (line.contains(BrokerProcess.READY)) {
        drain(out);
        return started;
      }
      lines.add(line);
    }
    throw new IOException(
        "The broker ended before it was ready:\n"
            + String.join(
                "\n", lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size())));
  }

  // Clients create their own topics; Kafka's internal ones are as small as possible.
  private String settings() {
    return """
        process.roles=broker,controller
        node.id=1
        controller.quorum.voters=1@127.0.0.1:%2$d
        listeners=PLAINTEXT://127.0.0.1:%1$d,CONTROLLER://127.0.0.1:%2$d
        advertised.listeners=PLAINTEXT://127.0.0.1:%1$d
        controller.listener.names=CONTROLLER
        listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
        log.dirs=%3$s
        auto.create.topics.enable=false
        offsets.topic.num.partitions=1
        offsets.topic.replication.factor=1
        transaction.state.log.num.partitions=4
        transaction.state.log.replication.factor=1
        transaction.state.log.min.isr=1
        group.initial.rebalance.delay.ms=0
        """
        .formatted(port, controllerPort, directory.resolve("data"));
  }

  private static final String LOGGING =
      """
      <configuration>
        <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
          <encoder><pattern>%d{HH:mm:ss.SSS} %-5level %logger{24} %msg%n</pattern></encoder>
        </appender>
        <root level="WARN"><appender-ref ref="out"/></root>
      </configuration>
      """;

  /** A full pipe would stop the broker. */
  private static void drain(BufferedReader out) {
    Thread reader =
        new Thread(
            () -> {
              try {
                while (out.readLine() != null) {
                  // Read and forgotten.
                }
              } catch (IOException e) {
                // The process has ended.
              }
            },
            "broker-output");
    reader.setDaemon(true);
    reader.start();
  }

  private static void delete(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
