package dev.lockstep.outbox;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * An event's content: bytes and their media type. The bytes are not copied; immutable unless they
 * are changed.
 */
public final class Content {
  public static final String JSON = "application/json";

  private final String type;
  private final byte[] bytes;

  private Content(String type, byte[] bytes) {
    this.type = type;
    this.bytes = bytes;
  }

  /** JSON content; not validated. */
  public static Content json(String json) {
    return new Content(JSON, json.getBytes(StandardCharsets.UTF_8));
  }

  public static Content of(String type, byte[] bytes) {
    TextLimits.requireLine("A content type", type, TextLimits.MAX_NAME_LENGTH);
    return new Content(type, bytes);
  }

  /** From the table; validated before it was stored. */
  static Content stored(String type, byte[] bytes) {
    return new Content(type, bytes);
  }

  /** The media type. */
  public String type() {
    return type;
  }

  /** Returns the bytes, not a copy: do not change them. */
  public byte[] bytes() {
    return bytes;
  }

  public int size() {
    return bytes.length;
  }

  /** Decodes the bytes as UTF-8. */
  public String text() {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Content c && type.equals(c.type) && Arrays.equals(bytes, c.bytes);
  }

  @Override
  public int hashCode() {
    return 31 * type.hashCode() + Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return type + ", " + bytes.length + " bytes";
  }
}
