package dev.lockstep.server.edge;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the bytes of a request's head before they are parsed, for what the parser accepts and
 * other servers read differently: a header that goes on in the next line, and a request line whose
 * words are not separated by one space each. Keeps its place when a head arrives in pieces. Of one
 * connection, on its event loop.
 */
final class HeadReader {
  private static final int LINE_SPACES = 2;

  private enum Place {
    /** Empty lines before a request are skipped. */
    BEFORE,
    REQUEST_LINE,
    LINE_START,
    LINE
  }

  private Place place = Place.BEFORE;
  private int spaces;
  private boolean strange;
  private int last;
  private @Nullable String wrong;
  private boolean ended;

  /** Whether any byte of it is here, and not all; empty lines before it are none of its bytes. */
  boolean begun() {
    return !ended && place != Place.BEFORE;
  }

  /** What is wrong with what was seen of it. */
  @Nullable String wrong() {
    return wrong;
  }

  /** For the next head. */
  void reset() {
    place = Place.BEFORE;
    spaces = 0;
    strange = false;
    last = 0;
    wrong = null;
    ended = false;
  }

  /** Looks at some more bytes, up to the end of the head. */
  void look(ByteBuf in, int from) {
    int until = in.writerIndex();
    for (int i = from; i < until && !ended; i++) {
      look(in.getByte(i));
    }
  }

  private void look(byte next) {
    switch (place) {
      case BEFORE -> before(next);
      case REQUEST_LINE -> requestLine(next);
      case LINE_START -> lineStart(next);
      case LINE -> place = next == '\n' ? Place.LINE_START : Place.LINE;
    }
    last = next;
  }

  private void before(byte next) {
    if (next != '\r' && next != '\n') {
      place = Place.REQUEST_LINE;
      requestLine(next);
    }
  }

  private void requestLine(byte next) {
    if (next == '\n') {
      place = Place.LINE_START;
      if (strange || spaces != LINE_SPACES) {
        wrong = "The request line has three words, with one space between each.";
      }
    } else if (next == ' ') {
      spaces++;
      strange |= last == ' ' || last == '\n' || last == 0;
    } else {
      boolean control = (next >= 0 && next < ' ' && next != '\r') || next == 0x7f;
      // Of a line that does not begin with it, a return is the last but one.
      strange |= control || (last == '\r' && spaces > 0);
    }
  }

  private void lineStart(byte next) {
    if (next == ' ' || next == '\t') {
      wrong = "A header does not go on in the next line.";
      place = Place.LINE;
    } else if (next == '\n') {
      ended = true;
    } else if (next != '\r') {
      place = Place.LINE;
    }
  }
}
