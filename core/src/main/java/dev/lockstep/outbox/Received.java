package dev.lockstep.outbox;

/** An event's identity, as a consumer receives it. */
public record Received(String stream, String key, long seq) {
  public Received {
    Texts.requireLine("A stream", stream, Texts.MAX_NAME_LENGTH);
    Texts.require("A key", key, Texts.MAX_KEY_LENGTH);
    if (seq < 1) {
      throw new IllegalArgumentException("seq must be at least 1");
    }
  }
}
