package dev.lockstep.server.setting;

import java.util.List;

/**
 * Invalid settings. The message has one line per problem: where the value was set, to what, and
 * what is allowed; never a secret.
 */
public final class WrongSettings extends RuntimeException {
  private static final long serialVersionUID = 1L;

  WrongSettings(List<String> problems) {
    super(String.join("\n", problems));
  }
}
