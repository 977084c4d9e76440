package dev.lockstep.cli;

import dev.lockstep.server.Server;
import dev.lockstep.server.config.ServerConfig;
import dev.lockstep.server.key.Secret;
import dev.lockstep.server.lifecycle.StopRequest;
import dev.lockstep.server.setting.SettingsText;
import dev.lockstep.server.setting.Sources;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Unmatched;

/** Starts the server and runs it until it is asked to stop. */
@Command(name = "up", description = "Start the server, by default with a database of its own.")
final class UpCommand implements Callable<Integer> {
  /** The settings that {@code --help} shows first. */
  private static final Set<String> COMMON =
      Set.of("port", "data", "database.url", "host", "operator.key", "visitors", "pool.size");

  @Option(names = "--help")
  private boolean help;

  /** Flags are settings, one per setting. */
  @Unmatched private final List<String> flags = new ArrayList<>();

  @Override
  public Integer call() throws InterruptedException {
    if (help) {
      System.out.print(
          SettingsText.help(
              "./lockstep up [--config FILE] [--name value …]",
              ServerConfig.table(Sources.NONE).values(),
              COMMON));
      return 0;
    }
    ServerConfig.Table table =
        ServerConfig.table(Sources.of(Sources.flags(flags), System.getenv()));
    ServerConfig config = table.config();
    config.process().setUpLog();
    table.warnings().forEach(LoggerFactory.getLogger(UpCommand.class)::warn);
    try (StopRequest stop = StopRequest.onSignal()) {
      try (Server server = Server.start(config, stop::fail)) {
        stop.startFinished();
        System.out.println("Lockstep is ready on " + server.url());
        server.firstOperatorKey().ifPresent(UpCommand::showKey);
        System.out.flush();
        stop.await();
      } catch (RuntimeException e) {
        // A start that the user's own signal interrupted has not failed.
        if (!stop.requested()) {
          throw e;
        }
      }
    }
    return 0;
  }

  /** The only time that the key is visible: only its hash is stored. */
  private static void showKey(Secret key) {
    System.out.println("Operator key: " + key.reveal());
  }
}
