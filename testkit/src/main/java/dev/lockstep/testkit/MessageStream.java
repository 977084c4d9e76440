package dev.lockstep.testkit;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Splits one direction of a PostgreSQL connection (protocol 3) into messages. A message is a type
 * byte, a length that includes itself, and the body. A client's messages have no type up to its
 * startup message. Not thread-safe.
 */
public final class MessageStream {

  /** The type of a message without one. */
  public static final byte NO_TYPE = 0;

  private static final int LENGTH_BYTES = 4;
  private static final int PROTOCOL_MAJOR = 3;

  /** One message; do not change its bytes. */
  public static final class Message {

    private final byte type;
    private final byte[] bytes;

    private Message(byte type, byte[] bytes) {
      this.type = type;
      this.bytes = bytes;
    }

    /** The type byte; {@link #NO_TYPE} up to a client's startup message. */
    public byte type() {
      return type;
    }

    /** The whole message, as sent. */
    public byte[] bytes() {
      return bytes;
    }

    /** The first zero-terminated strings after the header. */
    public List<String> strings(int count) {
      List<String> found = new ArrayList<>();
      int from = 1 + LENGTH_BYTES;
      for (int i = 0; i < count; i++) {
        int to = from;
        while (bytes[to] != 0) {
          to++;
        }
        found.add(new String(bytes, from, to - from, StandardCharsets.UTF_8));
        from = to + 1;
      }
      return found;
    }
  }

  private boolean typed;
  private byte[] rest = new byte[0];

  private MessageStream(boolean typed) {
    this.typed = typed;
  }

  /** What a client sends, from its first byte. */
  public static MessageStream fromClient() {
    return new MessageStream(false);
  }

  /** What a server sends, from its first byte. */
  public static MessageStream fromServer() {
    return new MessageStream(true);
  }

  /** Returns the messages that these bytes complete; keeps the rest for the next call. */
  public List<Message> add(byte[] bytes) {
    byte[] all = Arrays.copyOf(rest, rest.length + bytes.length);
    System.arraycopy(bytes, 0, all, rest.length, bytes.length);
    List<Message> messages = new ArrayList<>();
    int at = 0;
    while (true) {
      int typeBytes = typed ? 1 : 0;
      if (all.length - at < typeBytes + LENGTH_BYTES) {
        break;
      }
      int size = typeBytes + ByteBuffer.wrap(all).getInt(at + typeBytes);
      if (all.length - at < size) {
        break;
      }
      byte[] message = Arrays.copyOfRange(all, at, at + size);
      messages.add(new Message(typed ? message[0] : NO_TYPE, message));
      typed = typed || isStartup(message);
      at += size;
    }
    rest = Arrays.copyOfRange(all, at, all.length);
    return messages;
  }

  /** Requests for encryption or cancellation are untyped too, but do not start the session. */
  private static boolean isStartup(byte[] message) {
    return ByteBuffer.wrap(message).getInt(LENGTH_BYTES) >>> 16 == PROTOCOL_MAJOR;
  }
}
