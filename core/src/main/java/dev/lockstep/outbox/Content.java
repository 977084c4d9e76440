package dev.lockstep.outbox;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What an event says: bytes, and what they are. Immutable as long as nobody changes the bytes,
 * which are not copied.
 */
public final class Content {
  public static final String JSON = "application/json";

  private final String type;
  private final byte[] bytes;

  private Content(String type, byte[] bytes) {
    this.type = type;
    this.bytes = bytes;
  }

  /** JSON; not checked. */
  public static Content json(String json) {
    return new Content(JSON, json.getBytes(StandardCharsets.UTF_8));
  }

  public static Content of(String type, byte[] bytes) {
    Texts.requireLine("A content type", type, Texts.MAX_NAME_LENGTH);
    return new Content(type, bytes);
  }

  /** As it was stored, so checked before. */
  static Content stored(String type, byte[] bytes) {
    return new Content(type, bytes);
  }

  /** The media type. */
  public String type() {
    return type;
  }

  /** Not a copy: do not change it. */
  public byte[] bytes() {
    return bytes;
  }

  public int size() {
    return bytes.length;
  }

  /** As UTF-8. */
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
