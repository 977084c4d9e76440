package dev.lockstep.cli;

import dev.lockstep.server.config.ServerConfig;
import dev.lockstep.server.setting.SettingsText;
import dev.lockstep.server.setting.Sources;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Unmatched;

/** Prints every setting: value, source, default and meaning. */
@Command(name = "settings", description = "Print every setting, and where its value came from.")
final class SettingsCommand implements Callable<Integer> {
  @Option(names = "--json")
  private boolean json;

  /** Prints the content of docs/settings.md. */
  @Option(names = "--markdown")
  private boolean markdown;

  @Unmatched private final List<String> flags = new ArrayList<>();

  @Override
  public Integer call() {
    if (markdown) {
      System.out.print(SettingsText.markdown(ServerConfig.table(Sources.NONE).values()));
      return 0;
    }
    ServerConfig.Table table =
        ServerConfig.table(Sources.of(Sources.flags(flags), System.getenv()));
    table.warnings().forEach(warning -> System.err.println("lockstep: warning: " + warning));
    System.out.print(json ? SettingsText.json(table.values()) : SettingsText.plain(table.values()));
    return 0;
  }
}
