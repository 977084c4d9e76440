package dev.lockstep.testkit;

import dev.lockstep.testkit.MessageStream.Message;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Recognises the client message that makes the server commit: a simple query that ends in COMMIT,
 * or the execution of a portal bound to a statement that was parsed as COMMIT, perhaps long before.
 * Not thread-safe.
 */
public final class CommitRecogniser {

  /** COMMIT PREPARED does not match. */
  private static final Pattern COMMIT =
      Pattern.compile(
          "(^|;)\\s*(commit|end)(\\s+(work|transaction))?(\\s+and\\s+(no\\s+)?chain)?\\s*;?\\s*$",
          Pattern.CASE_INSENSITIVE);

  private final Set<String> statements = new HashSet<>();
  private final Set<String> portals = new HashSet<>();

  /** Checks the connection's next message. */
  public boolean isCommit(Message message) {
    return switch (message.type()) {
      case 'Q' -> isCommitSql(message.strings(1).get(0));
      case 'P' -> parsed(message.strings(2));
      case 'B' -> bound(message.strings(2));
      case 'E' -> portals.contains(message.strings(1).get(0));
      case 'C' -> closed(message.strings(1).get(0));
      default -> false;
    };
  }

  // These only prepare a commit, so they always return false.

  private boolean parsed(List<String> nameAndSql) {
    return remember(statements, nameAndSql.get(0), isCommitSql(nameAndSql.get(1)));
  }

  private boolean bound(List<String> portalAndStatement) {
    return remember(
        portals, portalAndStatement.get(0), statements.contains(portalAndStatement.get(1)));
  }

  /** A letter for the kind of object precedes its name. */
  private boolean closed(String kindAndName) {
    Set<String> names = kindAndName.startsWith("S") ? statements : portals;
    return remember(names, kindAndName.substring(1), false);
  }

  private static boolean remember(Set<String> names, String name, boolean isCommit) {
    if (isCommit) {
      names.add(name);
    } else {
      names.remove(name);
    }
    return false;
  }

  private static boolean isCommitSql(String sql) {
    return COMMIT.matcher(sql).find();
  }
}
