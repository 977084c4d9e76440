package dev.lockstep.lab;

import dev.lockstep.tx.Isolation;
import java.util.Locale;
import java.util.Optional;

/** Names of isolation levels. */
public final class Level {
  private Level() {}

  /** In URLs and JSON: {@code repeatable-read}. */
  public static String label(Isolation level) {
    return level.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** In SQL: {@code REPEATABLE READ}. */
  public static String sql(Isolation level) {
    return level.name().replace('_', ' ');
  }

  /** In a sentence: {@code repeatable read}. */
  public static String words(Isolation level) {
    return sql(level).toLowerCase(Locale.ROOT);
  }

  /**
   * Parses any spelling: {@code repeatable-read}, {@code REPEATABLE READ}, {@code repeatableRead}.
   * READ UNCOMMITTED becomes READ COMMITTED, as in PostgreSQL.
   */
  public static Optional<Isolation> of(String text) {
    return switch (text.replaceAll("[ _-]", "").toLowerCase(Locale.ROOT)) {
      case "readuncommitted", "readcommitted" -> Optional.of(Isolation.READ_COMMITTED);
      case "repeatableread" -> Optional.of(Isolation.REPEATABLE_READ);
      case "serializable" -> Optional.of(Isolation.SERIALIZABLE);
      default -> Optional.empty();
    };
  }
}
