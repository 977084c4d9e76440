package dev.lockstep.server.setting;

/**
 * What a setting is now.
 *
 * @param shown fit to be printed; of a secret, only whether it is set
 * @param source the flag, variable or line of a file it came from, or "default"
 */
public record SettingValue(Setting setting, String shown, String source) {
  static final String DEFAULT = "default";
  static final String HIDDEN = "(set, hidden)";
  static final String UNSET = "(not set)";

  public boolean isDefault() {
    return source.equals(DEFAULT);
  }
}
