package dev.lockstep.server.verify;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The document as published, bytes in hexadecimal; nothing in it is trusted yet. */
record PublishedDraw(
    String campaign,
    String status,
    String algorithm,
    String commitment,
    String seed,
    Optional<String> beacon,
    String entrantsHash,
    List<Ticket> entrants,
    List<Prize> prizes,
    List<Win> winners) {

  static final String DRAWN = "drawn";
  private static final int MAX_ROWS = 100_000;

  record Ticket(int layer, int row, int column, String purchase) {
    String position() {
      return layer + "," + row + "," + column;
    }

    @Override
    public String toString() {
      return "layer %d, row %d, column %d (purchase %s)".formatted(layer, row, column, purchase);
    }
  }

  record Prize(String name, int quantity) {}

  record Win(String prize, Ticket ticket) {
    @Override
    public String toString() {
      return "'" + prize + "' for " + ticket;
    }
  }

  /** The text is not a draw document; the message says why. */
  static final class Unreadable extends Exception {
    private static final long serialVersionUID = 1L;

    Unreadable(String message) {
      super(message);
    }
  }

  static PublishedDraw parse(String text) throws Unreadable {
    JsonObject json;
    try {
      json = new JsonObject(text);
    } catch (DecodeException e) {
      throw new Unreadable("it is not a JSON object");
    }
    String status = text(json, "status");
    if (!status.equals(DRAWN)) {
      throw new Unreadable(
          "its status is '" + status + "': there is nothing to verify before 'drawn'");
    }
    return new PublishedDraw(
        text(json, "campaign"),
        status,
        text(json, "algorithm"),
        hex(json, "commitment"),
        hex(json, "seed"),
        json.getValue("beacon") == null ? Optional.empty() : Optional.of(hex(json, "beacon")),
        hex(json, "entrantsHash"),
        tickets(json),
        prizes(json),
        winners(json));
  }

  private static List<Ticket> tickets(JsonObject json) throws Unreadable {
    List<Ticket> tickets = new ArrayList<>();
    List<JsonObject> rows = rows(json, "entrants");
    for (int i = 0; i < rows.size(); i++) {
      tickets.add(ticket(rows.get(i), "entrants[" + i + "]"));
    }
    return tickets;
  }

  private static List<Prize> prizes(JsonObject json) throws Unreadable {
    List<Prize> prizes = new ArrayList<>();
    for (JsonObject row : rows(json, "prizes")) {
      prizes.add(new Prize(text(row, "name"), number(row, "quantity", "prizes")));
    }
    return prizes;
  }

  private static List<Win> winners(JsonObject json) throws Unreadable {
    List<Win> winners = new ArrayList<>();
    List<JsonObject> rows = rows(json, "winners");
    for (int i = 0; i < rows.size(); i++) {
      String at = "winners[" + i + "]";
      winners.add(new Win(text(rows.get(i), "prize"), ticket(rows.get(i), at)));
    }
    return winners;
  }

  private static Ticket ticket(JsonObject row, String at) throws Unreadable {
    if (!(row.getValue("position") instanceof JsonObject position)) {
      throw new Unreadable(at + ".position is missing");
    }
    return new Ticket(
        number(position, "layer", at),
        number(position, "row", at),
        number(position, "column", at),
        text(row, "purchase"));
  }

  private static List<JsonObject> rows(JsonObject json, String field) throws Unreadable {
    if (!(json.getValue(field) instanceof JsonArray array) || array.size() > MAX_ROWS) {
      throw new Unreadable("'" + field + "' is not a list of at most " + MAX_ROWS);
    }
    List<JsonObject> rows = new ArrayList<>(array.size());
    for (int i = 0; i < array.size(); i++) {
      if (!(array.getValue(i) instanceof JsonObject row)) {
        throw new Unreadable(field + "[" + i + "] is not an object");
      }
      rows.add(row);
    }
    return rows;
  }

  private static String text(JsonObject json, String field) throws Unreadable {
    if (json.getValue(field) instanceof String text) {
      return text;
    }
    throw new Unreadable("'" + field + "' is missing or not text");
  }

  private static int number(JsonObject json, String field, String at) throws Unreadable {
    if (json.getValue(field) instanceof Integer number && number > 0) {
      return number;
    }
    throw new Unreadable(at + ": '" + field + "' is not a whole number above 0");
  }

  private static String hex(JsonObject json, String field) throws Unreadable {
    String text = text(json, field);
    if (!text.matches("[0-9a-f]{64}")) {
      throw new Unreadable("'" + field + "' is not 64 lower-case hexadecimal digits");
    }
    return text;
  }
}
