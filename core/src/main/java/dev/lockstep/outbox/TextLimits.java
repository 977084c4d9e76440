package dev.lockstep.outbox;

import dev.lockstep.sql.StorableText;

/** The lengths of the outbox's texts, and the checks before they are stored. */
final class TextLimits {
  static final int MAX_NAME_LENGTH = 200;
  static final int MAX_KEY_LENGTH = 400;
  static final int MAX_SETTINGS_LENGTH = 10_000;
  static final int MAX_REASON_LENGTH = 1_000;

  private TextLimits() {}

  static void require(String what, String text, int maxLength) {
    StorableText.require(what, text, maxLength);
  }

  /** Like {@link #require}, and without control characters. */
  static void requireLine(String what, String text, int maxLength) {
    require(what, text, maxLength);
    if (hasControl(text)) {
      throw new IllegalArgumentException(what + " must not have control characters");
    }
  }

  static boolean hasControl(String text) {
    return text.chars().anyMatch(Character::isISOControl);
  }
}
