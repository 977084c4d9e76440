package dev.lockstep.prove.node;

import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceKey;
import dev.lockstep.once.OnceResult;
import dev.lockstep.prove.history.Fields;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Idempotency keys. The effect is a row of a table that has no key of its own. */
final class OnceVerbs {
  private static final String EFFECT = "INSERT INTO prove.effect (key, op) VALUES (?, ?)";
  private static final String EFFECTS =
      "SELECT key, op FROM prove.effect WHERE key LIKE ? ORDER BY key, op";

  private final Transactor transactor;
  private final Once once;

  OnceVerbs(Transactor transactor, Once once) {
    this.transactor = transactor;
    this.once = once;
  }

  Map<String, Verb> verbs() {
    return Map.of("once.run", this::run, "final.effects", this::effects);
  }

  private Answer run(Fields f) {
    String key = f.text("key");
    OnceResult result =
        once.call(
            new OnceKey(1, "prove", key),
            Fingerprint.of(f.text("body")),
            connection -> effect(connection, f));
    if (result instanceof OnceResult.Completed done) {
      return Answer.ok("answer", done.answer(), "replayed", done.replayed());
    }
    return Answer.refused(result.getClass().getSimpleName());
  }

  private static String effect(Connection connection, Fields f) throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(EFFECT)) {
      insert.setString(1, f.text("key"));
      insert.setString(2, f.text("op"));
      insert.executeUpdate();
    }
    pause(f.number("pause", 0));
    return f.text("op");
  }

  /** Makes work slow, so that concurrent calls overlap. */
  static void pause(long ms) throws SQLException {
    try {
      TimeUnit.MILLISECONDS.sleep(ms);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SQLException("interrupted", e);
    }
  }

  private Answer effects(Fields f) {
    List<String> all =
        transactor.call(
            connection -> {
              List<String> found = new ArrayList<>();
              try (PreparedStatement select = connection.prepareStatement(EFFECTS)) {
                select.setString(1, f.text("prefix") + "%");
                try (ResultSet row = select.executeQuery()) {
                  while (row.next()) {
                    found.add(row.getString(1) + ":" + row.getString(2));
                  }
                }
              }
              return found;
            });
    return Answer.ok("effects", String.join(",", all));
  }
}
