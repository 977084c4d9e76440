package dev.lockstep.server.edge;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Checks the bytes of a request head before they are parsed, and rejects what the parser accepts
 * but other servers read differently: folded headers, and request lines not separated by single
 * spaces. Continues when a head arrives in pieces. One per connection, on its event loop.
 */
final class HeadReader {
  private static final int LINE_SPACES = 2;

  private enum HeadPart {
    /** Skips empty lines before a request. */
    BEFORE,
    REQUEST_LINE,
    LINE_START,
    LINE
  }

  private HeadPart part = HeadPart.BEFORE;
  private int spaces;
  private boolean strange;
  private int last;
  private @Nullable String wrong;
  private boolean ended;

  /** Whether part of a head, but not all of it, is here. Leading empty lines do not count. */
  boolean begun() {
    return !ended && part != HeadPart.BEFORE;
  }

  /** What is wrong with the part seen so far. */
  @Nullable String wrong() {
    return wrong;
  }

  /** Starts the next head. */
  void reset() {
    part = HeadPart.BEFORE;
    spaces = 0;
    strange = false;
    last = 0;
    wrong = null;
    ended = false;
  }

  /** Checks more bytes, up to the end of the head. */
  void look(ByteBuf in, int from) {
    int until = in.writerIndex();
    for (int i = from; i < until && !ended; i++) {
      look(in.getByte(i));
    }
  }

  private void look(byte next) {
    switch (part) {
      case BEFORE -> before(next);
      case REQUEST_LINE -> requestLine(next);
      case LINE_START -> lineStart(next);
      case LINE -> part = next == '\n' ? HeadPart.LINE_START : HeadPart.LINE;
    }
    last = next;
  }

  private void before(byte next) {
    if (next != '\r' && next != '\n') {
      part = HeadPart.REQUEST_LINE;
      requestLine(next);
    }
  }

  private void requestLine(byte next) {
    if (next == '\n') {
      part = HeadPart.LINE_START;
      if (strange || spaces != LINE_SPACES) {
        wrong = "The request line must be three words separated by single spaces.";
      }
    } else if (next == ' ') {
      spaces++;
      strange |= last == ' ' || last == '\n' || last == 0;
    } else {
      boolean control = (next >= 0 && next < ' ' && next != '\r') || next == 0x7f;
      // Except at a line's start, a CR may only be its last byte but one.
      strange |= control || (last == '\r' && spaces > 0);
    }
  }

  private void lineStart(byte next) {
    if (next == ' ' || next == '\t') {
      wrong = "A header must not continue on the next line.";
      part = HeadPart.LINE;
    } else if (next == '\n') {
      ended = true;
    } else if (next != '\r') {
      part = HeadPart.LINE;
    }
  }
}
