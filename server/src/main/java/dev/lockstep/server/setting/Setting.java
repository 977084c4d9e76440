package dev.lockstep.server.setting;

import java.util.Locale;
import java.util.Optional;

/**
 * A setting as people see it.
 *
 * @param name as in a file: {@code pool.size}
 * @param group its heading
 * @param kind the values it accepts
 * @param otherwise its default in words
 * @param meaning one plain sentence
 * @param secret whether its value is never shown, and has no flag
 */
public record Setting(
    String name, String group, Kind<?> kind, String otherwise, String meaning, boolean secret) {
  static final String PREFIX = "LOCKSTEP_";

  public Setting {
    if (!name.matches("[a-z]+([.-][a-z]+)*+") || !meaning.endsWith(".")) {
      throw new IllegalArgumentException(
          name + " is lower-case words with dots and hyphens between; its meaning a sentence");
    }
  }

  /** The environment variable: {@code LOCKSTEP_POOL_SIZE}. */
  public String variable() {
    return variable(name);
  }

  /**
   * The flag: {@code --pool-size}. A secret has none, because other users of a machine can read a
   * process's arguments.
   */
  public Optional<String> flag() {
    return secret ? Optional.empty() : Optional.of(flag(name));
  }

  static String variable(String name) {
    return PREFIX + name.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }

  static String flag(String name) {
    return "--" + name.replace('.', '-');
  }
}
