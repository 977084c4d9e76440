package dev.lockstep.cli;

import dev.lockstep.server.lifecycle.WrongUse;
import java.net.URI;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * Options of commands that talk to a running server: its address and an operator's key. A mixin.
 */
final class RunningServerOptions {
  @Option(
      names = "--url",
      paramLabel = "URL",
      defaultValue = "http://localhost:8080",
      description = "Where the server is. ${DEFAULT-VALUE}")
  private String url = "";

  /**
   * @throws WrongUse if it is not a server's address
   */
  URI address() {
    URI address;
    try {
      address = URI.create(url);
    } catch (IllegalArgumentException e) {
      throw new WrongUse("--url is no URL: '" + url + "'");
    }
    String scheme = String.valueOf(address.getScheme()).toLowerCase(Locale.ROOT);
    if (!(scheme.equals("http") || scheme.equals("https")) || address.getHost() == null) {
      throw new WrongUse("--url must be like http://localhost:8080, not '" + url + "'");
    }
    return address;
  }

  /**
   * An operator's key.
   *
   * @param word the command that needs it
   * @param flag the option's value; null: read the environment
   * @throws WrongUse if there is none
   */
  static String operatorKey(String word, @Nullable String flag) {
    String key = flag != null ? flag : System.getenv().getOrDefault("LOCKSTEP_OPERATOR_KEY", "");
    if (!key.matches("[\\x21-\\x7e]{1,512}")) {
      throw new WrongUse(
          word + " needs an operator's key: set LOCKSTEP_OPERATOR_KEY to the one that up printed");
    }
    return key;
  }
}
