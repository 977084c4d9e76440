package dev.lockstep.prove.node;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.server.Server;
import dev.lockstep.server.config.ServerConfig;
import dev.lockstep.server.setting.Sources;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * The main class of a shop: the server as users run it, on a database behind a proxy and with a
 * payment provider behind another. Its driver talks to it over HTTP; the pipe only says when it is
 * ready and asks it to leave. It ends when its input does.
 */
public final class ShopMain {
  private static final int ORDERLY = 0;
  private static final int FAILED = 1;

  private ShopMain() {}

  public static void main(String[] args) throws IOException {
    Pipe pipe =
        new Pipe(
            new PrintStream(
                new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8));
    // Nothing else may write into the pipe.
    System.setOut(System.err);
    ShopSettings settings = ShopSettings.parse(args[0]);
    Server server = start(ServerConfig.of(Sources.of(Map.of(), settings.environment())));
    pipe.tell("ready", Fields.NONE);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      if (line.contains("leave")) {
        server.close();
        break;
      }
    }
    Runtime.getRuntime().halt(ORDERLY);
  }

  /** Without its database a shop cannot start; its driver starts another. */
  private static Server start(ServerConfig config) {
    try {
      return Server.start(config, e -> Runtime.getRuntime().halt(FAILED));
    } catch (RuntimeException e) {
      System.err.println("The shop cannot start: " + e);
      Runtime.getRuntime().halt(FAILED);
      throw e;
    }
  }
}
