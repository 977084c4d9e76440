package dev.lockstep.server.setting;

import java.util.List;

/**
 * What is set cannot be. The message has a line for each thing that is wrong: where it was set,
 * what to, and what is allowed; never a secret.
 */
public final class WrongSettings extends RuntimeException {
  private static final long serialVersionUID = 1L;

  WrongSettings(List<String> problems) {
    super(String.join("\n", problems));
  }
}
