package dev.lockstep.outbox;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * An event to append.
 *
 * @param stream must be defined
 * @param key events with the same key stay in order: a portfolio, a campaign; up to 400 characters
 * @param type what happened, such as "trade.booked"
 * @param headers sent along; up to 32, none beginning with "lockstep-"
 */
public record NewEvent(
    String stream, String key, String type, Content content, Map<String, String> headers) {
  public static final String TRACE_PARENT = "traceparent";
  public static final String TRACE_STATE = "tracestate";
  private static final Pattern W3C_PARENT =
      Pattern.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}");

  public NewEvent {
    TextLimits.requireLine("A stream", stream, TextLimits.MAX_NAME_LENGTH);
    TextLimits.require("A key", key, TextLimits.MAX_KEY_LENGTH);
    TextLimits.requireLine("An event's type", type, TextLimits.MAX_NAME_LENGTH);
    headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    EventHeaders.require(headers);
  }

  public static NewEvent of(String stream, String key, String type, Content content) {
    return new NewEvent(stream, key, type, content, Map.of());
  }

  public NewEvent withHeader(String name, String value) {
    Map<String, String> all = new LinkedHashMap<>(headers);
    all.put(name, value);
    return new NewEvent(stream, key, type, content, all);
  }

  /**
   * Adds a W3C trace context; sent as a header of that name.
   *
   * @throws IllegalArgumentException if it is not a traceparent
   */
  public NewEvent withTraceParent(String traceParent) {
    if (!W3C_PARENT.matcher(traceParent).matches()) {
      throw new IllegalArgumentException("A traceparent must be version-trace-parent-flags in hex");
    }
    return withHeader(TRACE_PARENT, traceParent);
  }

  public NewEvent withTraceState(String traceState) {
    return withHeader(TRACE_STATE, traceState);
  }
}
