package dev.lockstep.prove.node;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.tx.Isolation;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Transactions that append to lists and read them. Steps travel as {@code a.key.value} and {@code
 * r.key}; what a read saw comes back as {@code key:value.value}.
 */
final class ListVerbs {
  private static final String APPEND =
      """
      INSERT INTO prove.list (key, items) VALUES (?, ARRAY[?])
      ON CONFLICT (key) DO UPDATE SET items = prove.list.items || excluded.items""";
  private static final String READ = "SELECT items FROM prove.list WHERE key = ?";

  private final Transactor transactor;
  private final TxOptions serializable;

  ListVerbs(Transactor transactor) {
    this.transactor = transactor;
    this.serializable =
        transactor.defaults().withIsolation(Isolation.SERIALIZABLE).withLabel("lists");
  }

  Map<String, Verb> verbs() {
    return Map.of("tx.lists", this::lists, "final.lists", this::lists);
  }

  private Answer lists(Fields f) {
    List<String> steps = f.parts("steps", ",");
    List<String> seen = transactor.call(serializable, connection -> play(connection, steps, f));
    return Answer.ok("reads", String.join(",", seen));
  }

  private static List<String> play(Connection connection, List<String> steps, Fields f)
      throws SQLException {
    List<String> seen = new ArrayList<>();
    for (String step : steps) {
      String[] parts = step.split("\\.", -1);
      long key = Long.parseLong(parts[1]);
      if (parts[0].equals("a")) {
        try (PreparedStatement append = connection.prepareStatement(APPEND)) {
          append.setLong(1, key);
          append.setLong(2, Long.parseLong(parts[2]));
          append.executeUpdate();
        }
      } else {
        seen.add(key + ":" + read(connection, key));
      }
      OnceVerbs.pause(f.number("pause", 0));
    }
    return seen;
  }

  private static String read(Connection connection, long key) throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(READ)) {
      select.setLong(1, key);
      try (ResultSet row = select.executeQuery()) {
        if (!row.next()) {
          return "";
        }
        List<String> items = new ArrayList<>();
        for (Object item : (Object[]) row.getArray(1).getArray()) {
          items.add(item.toString());
        }
        return String.join(".", items);
      }
    }
  }
}
