package dev.lockstep.cli;

import dev.lockstep.postgres.PostgresConfig;
import dev.lockstep.postgres.PostgresServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * The server as its users run it: its own process, its two output streams, its exit code. Reading
 * blocks until the line is there or the process has ended, so tests wait for events; their timeout
 * is JUnit's.
 */
final class ServerProcess implements AutoCloseable {
  private static final String READY = "Lockstep is ready on ";

  /** By this release and later, on stderr; so `./lockstep` allows it from there on. */
  private static final int NATIVE_ACCESS_IS_REPORTED = 24;

  private final Process process;
  private final BufferedReader out;
  private final BufferedReader err;
  private final List<String> outSeen = new ArrayList<>();
  private final List<String> errSeen = new ArrayList<>();

  private ServerProcess(Process process) {
    this.process = process;
    this.out = process.inputReader(StandardCharsets.UTF_8);
    this.err = process.errorReader(StandardCharsets.UTF_8);
  }

  static ServerProcess start(String... arguments) throws IOException {
    return start(Map.of(), arguments);
  }

  static ServerProcess start(Map<String, String> environment, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8"));
    if (Runtime.version().feature() >= NATIVE_ACCESS_IS_REPORTED) {
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().keySet().removeIf(name -> name.startsWith("LOCKSTEP_"));
    builder.environment().putAll(environment);
    return new ServerProcess(builder.start());
  }

  /** An embedded server on a free port. */
  static ServerProcess up(Path data) throws IOException {
    return start("up", "--port", "0", "--data", data.toString());
  }

  /**
   * A server without samples on a free port, with a database of the test's.
   *
   * @param environment what else is set
   */
  static ServerProcess upOn(String databaseUrl, String operatorKey, Map<String, String> environment)
      throws IOException {
    Map<String, String> all = new HashMap<>(environment);
    all.put("LOCKSTEP_PORT", "0");
    all.put("LOCKSTEP_SAMPLES", "false");
    all.put("LOCKSTEP_OPERATOR_KEY", operatorKey);
    all.put("LOCKSTEP_DATABASE_URL", databaseUrl);
    return start(all, "up");
  }

  long pid() {
    return process.pid();
  }

  /** Waits for the ready line and returns the address in it. */
  String awaitReady() throws IOException {
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      outSeen.add(line);
      if (line.startsWith(READY)) {
        return line.substring(READY.length());
      }
    }
    throw new AssertionError("ended without a ready line: " + String.join("\n", errors()));
  }

  /** Waits for a line on standard error. */
  void awaitError(Predicate<String> wanted) throws IOException {
    for (String line = err.readLine(); line != null; line = err.readLine()) {
      errSeen.add(line);
      if (wanted.test(line)) {
        return;
      }
    }
    throw new AssertionError("ended without the awaited line: " + String.join("\n", errSeen));
  }

  /** Everything on standard output; waits for the end of the process. */
  List<String> output() throws IOException {
    out.lines().forEach(outSeen::add);
    return outSeen;
  }

  /** Everything on standard error; waits for the end of the process. */
  List<String> errors() throws IOException {
    err.lines().forEach(errSeen::add);
    return errSeen;
  }

  int awaitExit() throws InterruptedException {
    return process.waitFor();
  }

  /** Empty when it has not ended by then. For what is promised to take a bounded time. */
  Optional<Integer> exitCodeWithin(Duration atMost) throws InterruptedException {
    return process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS)
        ? Optional.of(process.exitValue())
        : Optional.empty();
  }

  /** SIGTERM; returns the exit code. */
  int terminate() throws InterruptedException {
    askToStop();
    return awaitExit();
  }

  /** SIGTERM. One that has much to say must be read from, or it waits for that. */
  void askToStop() {
    process.toHandle().destroy();
  }

  /** SIGKILL. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    awaitExit();
  }

  /** SIGSTOP: it stands still in the middle of whatever it does. */
  void pause() throws IOException, InterruptedException {
    signal("STOP");
  }

  /** SIGCONT. */
  void resume() throws IOException, InterruptedException {
    signal("CONT");
  }

  private void signal(String signal) throws IOException, InterruptedException {
    // Through the shell, whose kill is built in: small systems have no such program.
    int exit = new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pid()).start().waitFor();
    if (exit != 0) {
      throw new AssertionError("could not send SIG" + signal);
    }
  }

  static HttpResponse<String> get(String url) throws IOException, InterruptedException {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString());
  }

  /** Connects to the database of a running server, with the password that lies beside the data. */
  static Connection connect(Path data) throws IOException, SQLException {
    String password = Files.readString(data.resolve("password")).strip();
    return DriverManager.getConnection(
        "jdbc:postgresql://127.0.0.1:" + databasePort(data) + "/lockstep", "lockstep", password);
  }

  /** PostgreSQL writes its port on the fourth line of the file that it removes when it stops. */
  static int databasePort(Path data) throws IOException {
    return Integer.parseInt(Files.readAllLines(postmasterFile(data)).get(3).strip());
  }

  static Path postmasterFile(Path data) {
    return data.resolve("data").resolve("postmaster.pid");
  }

  /** Leaves nothing running, whatever the test did. */
  static void stopAbandoned(Path data) {
    PostgresServer.stopAbandoned(PostgresConfig.durable(data));
  }

  @Override
  public void close() throws IOException {
    process.toHandle().destroy();
    if (process.isAlive()) {
      try {
        // One that is paused would not hear of it.
        resume();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    try {
      awaitExit();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
