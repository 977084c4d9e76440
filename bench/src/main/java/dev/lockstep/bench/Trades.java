package dev.lockstep.bench;

import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.NewEvent;
import java.util.ArrayList;
import java.util.List;

/** The events of the outbox benchmark: trades of portfolios, about 200 bytes each. */
final class Trades {
  static final String TYPE = "trade.booked";
  private static final String FILL = "x".repeat(120);

  private Trades() {}

  static String portfolio(long number, int portfolios) {
    return "portfolio-" + number % portfolios;
  }

  static String json(long number) {
    return "{\"trade\":%d,\"side\":\"buy\",\"quantity\":100,\"price\":\"101.25\",\"note\":\"%s\"}"
        .formatted(number, FILL);
  }

  static NewEvent event(String stream, long number, int portfolios) {
    return NewEvent.of(stream, portfolio(number, portfolios), TYPE, Content.json(json(number)));
  }

  static List<NewEvent> events(String stream, long from, int count, int portfolios) {
    List<NewEvent> events = new ArrayList<>(count);
    for (long n = from; n < from + count; n++) {
      events.add(event(stream, n, portfolios));
    }
    return events;
  }
}
