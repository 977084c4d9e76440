package dev.lockstep.server.api;

import dev.lockstep.sql.StorableText;
import java.util.function.Supplier;

/** Checks text of a request, which must survive the database unchanged. */
final class Text {
  private Text() {}

  /**
   * Refuses text that a database would refuse or change.
   *
   * @param at the text's path, for the message
   */
  static String storable(String at, String text) {
    return storable(() -> at, text);
  }

  /**
   * The same, where computing the path is expensive.
   *
   * @param place called only for refused text
   */
  static String storable(Supplier<String> place, String text) {
    if (!StorableText.is(text)) {
      String at = place.get();
      String where = at.isEmpty() ? "The body" : at;
      throw Problem.of(
              "unstorable-text",
              400,
              "Text that cannot be stored",
              where + " must not have NUL or half a character (an unpaired surrogate).")
          .with("field", where)
          .asException();
    }
    return text;
  }
}
