package dev.lockstep.ledger;

import java.util.List;

/**
 * What happened to an account in a time.
 *
 * @param opening the balance when it began
 * @param entries what changed the account, oldest first
 * @param closing the balance when it ended; when there were more entries than asked for, after the
 *     last of them
 * @param more there were more entries than asked for
 */
public record Statement(long opening, List<Entry> entries, long closing, boolean more) {
  public Statement {
    entries = List.copyOf(entries);
  }
}
