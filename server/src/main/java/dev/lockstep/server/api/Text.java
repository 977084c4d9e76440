package dev.lockstep.server.api;

import dev.lockstep.sql.StorableText;
import java.util.function.Supplier;

/** Text of a request, which has to be the same before and after the database. */
final class Text {
  private Text() {}

  /**
   * Refuses what a database would refuse or change, wherever in the request it is.
   *
   * @param at where it is, for the message
   */
  static String storable(String at, String text) {
    return storable(() -> at, text);
  }

  /**
   * The same where finding out the place costs something.
   *
   * @param place called for text that is refused, and no other
   */
  static String storable(Supplier<String> place, String text) {
    if (!StorableText.is(text)) {
      String at = place.get();
      String where = at.isEmpty() ? "The body" : at;
      throw Problem.of(
              "unstorable-text",
              400,
              "Text that can not be stored",
              where + " must not have NUL or half a character (an unpaired surrogate).")
          .with("field", where)
          .asException();
    }
    return text;
  }
}
