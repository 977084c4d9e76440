package dev.lockstep.outbox;

/**
 * Checks whether a text is exactly one JSON value (RFC 8259), so that it can be embedded in
 * another. Reads it once and keeps one flag per nesting level.
 */
final class JsonText {
  /** About as deep as common JSON parsers go. */
  static final int MAX_DEPTH = 1_000;

  private final CharSequence text;
  private int at;

  private JsonText(CharSequence text) {
    this.text = text;
  }

  static boolean is(CharSequence text) {
    JsonText reader = new JsonText(text);
    return reader.value() && reader.isAtEnd();
  }

  private boolean isAtEnd() {
    space();
    return at == text.length();
  }

  /** Reads one value, with everything nested in it. */
  private boolean value() {
    boolean[] objects = new boolean[MAX_DEPTH];
    int depth = 0;
    while (true) {
      space();
      char begin = peek();
      if (begin == '{' || begin == '[') {
        at++;
        space();
        char end = begin == '{' ? '}' : ']';
        if (peek() != end) {
          if (depth == MAX_DEPTH || (begin == '{' && !name())) {
            return false;
          }
          objects[depth++] = begin == '{';
          continue;
        }
        at++;
      } else if (!scalar(begin)) {
        return false;
      }
      // A value has ended; its containers may end too.
      boolean more = false;
      while (depth > 0 && !more) {
        space();
        char next = peek();
        if (next == ',') {
          at++;
          if (objects[depth - 1] && !name()) {
            return false;
          }
          more = true;
        } else if (next == (objects[depth - 1] ? '}' : ']')) {
          at++;
          depth--;
        } else {
          return false;
        }
      }
      if (!more) {
        return true;
      }
    }
  }

  private boolean name() {
    space();
    if (peek() != '"' || !string()) {
      return false;
    }
    space();
    return take(':');
  }

  private boolean scalar(char begin) {
    return switch (begin) {
      case '"' -> string();
      case 't' -> word("true");
      case 'f' -> word("false");
      case 'n' -> word("null");
      default -> number();
    };
  }

  private boolean word(String word) {
    if (text.length() - at < word.length()
        || !word.contentEquals(text.subSequence(at, at + word.length()))) {
      return false;
    }
    at += word.length();
    return true;
  }

  private boolean string() {
    at++;
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c == '"') {
        return true;
      }
      if (c < ' ' || (c == '\\' && !escape())) {
        return false;
      }
    }
    return false;
  }

  private boolean escape() {
    char c = peek();
    at++;
    if (c != 'u') {
      return c != 0 && "\"\\/bfnrt".indexOf(c) >= 0;
    }
    for (int i = 0; i < 4; i++) {
      char digit = peek();
      at++;
      if (digit > 'f' || Character.digit(digit, 16) < 0) {
        return false;
      }
    }
    return true;
  }

  private boolean number() {
    take('-');
    if (!take('0') && !digits()) {
      return false;
    }
    if (take('.') && !digits()) {
      return false;
    }
    if (take('e') || take('E')) {
      if (!take('+')) {
        take('-');
      }
      return digits();
    }
    return true;
  }

  private boolean digits() {
    int from = at;
    while (peek() >= '0' && peek() <= '9') {
      at++;
    }
    return at > from;
  }

  private boolean take(char c) {
    if (peek() != c) {
      return false;
    }
    at++;
    return true;
  }

  private void space() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') {
      at++;
    }
  }

  /** The end reads as NUL, which JSON never contains. */
  private char peek() {
    return at < text.length() ? text.charAt(at) : 0;
  }
}
