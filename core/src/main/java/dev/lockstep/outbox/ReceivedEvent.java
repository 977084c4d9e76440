package dev.lockstep.outbox;

/** An event's identity, as a consumer receives it. */
public record ReceivedEvent(String stream, String key, long seq) {
  public ReceivedEvent {
    TextLimits.requireLine("A stream", stream, TextLimits.MAX_NAME_LENGTH);
    TextLimits.require("A key", key, TextLimits.MAX_KEY_LENGTH);
    if (seq < 1) {
      throw new IllegalArgumentException("seq must be at least 1");
    }
  }
}
