package dev.lockstep.ledger;

import java.util.List;

/**
 * What happened to an account in a period.
 *
 * @param opening the balance at its start
 * @param entries the changes, oldest first
 * @param closing the balance at its end; if there were more entries than asked for, the balance
 *     after the last one returned
 * @param more there were more entries than asked for
 */
public record Statement(long opening, List<Entry> entries, long closing, boolean more) {
  public Statement {
    entries = List.copyOf(entries);
  }
}
