package dev.lockstep.server.setting;

/**
 * The current value of a setting.
 *
 * @param shown printable; for a secret, only whether it is set
 * @param source the flag, variable or line it came from, or "default"
 */
public record SettingValue(Setting setting, String shown, String source) {
  static final String DEFAULT = "default";
  static final String HIDDEN = "(set, hidden)";
  static final String UNSET = "(not set)";

  public boolean isDefault() {
    return source.equals(DEFAULT);
  }
}
