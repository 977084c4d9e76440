package dev.lockstep.server;

import dev.lockstep.server.key.Secret;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Starts the server and keeps it until it is asked to stop. */
@Command(
    name = "up",
    description = "Start the server, by default with a database of its own.",
    footer = "A flag wins over its environment variable.")
final class UpCommand implements Callable<Integer> {
  @Option(
      names = "--host",
      paramLabel = "HOST",
      description =
          "The interface to listen on; one that others can reach needs LOCKSTEP_OPERATOR_KEY."
              + " LOCKSTEP_HOST, 127.0.0.1")
  private @Nullable String host;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "Where to listen; 0 picks a free port. LOCKSTEP_PORT, 8080")
  private @Nullable String port;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "Where the embedded database lives. LOCKSTEP_DATA, ~/.lockstep")
  private @Nullable String data;

  @Option(
      names = "--database-url",
      paramLabel = "URL",
      description =
          "Use this PostgreSQL (14 to 18) instead: jdbc:postgresql://… LOCKSTEP_DATABASE_URL")
  private @Nullable String databaseUrl;

  @SuppressWarnings("unused") // read by picocli
  @Option(names = "--help", usageHelp = true, description = "Print this text.")
  private boolean help;

  @Override
  public Integer call() throws InterruptedException {
    ServerConfig config = ServerConfig.of(host, port, data, databaseUrl, System.getenv());
    try (StopRequest stop = StopRequest.onSignal()) {
      try (Server server = Server.start(config, stop::fail)) {
        stop.startFinished();
        System.out.println("Lockstep is ready on " + server.url());
        server.firstOperatorKey().ifPresent(UpCommand::showKey);
        System.out.flush();
        stop.await();
      } catch (RuntimeException e) {
        // A start that was interrupted by the user's own signal has not failed.
        if (!stop.requested()) {
          throw e;
        }
      }
    }
    return 0;
  }

  /** The one time that the key is seen: only its hash is kept. */
  private static void showKey(Secret key) {
    System.out.println("Operator key: " + key.reveal());
  }
}
