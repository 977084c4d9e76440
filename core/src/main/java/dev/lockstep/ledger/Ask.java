package dev.lockstep.ledger;

import org.jspecify.annotations.Nullable;

/**
 * What waits in the combiner: a command, perhaps with a companion's payload; or a sweep, which has
 * no command and only ends expired transfers.
 *
 * @param queued true if it waits in the queue; false if it runs on the caller's connection, whose
 *     commit we cannot observe, and where commands take effect in the order given
 */
record Ask(@Nullable LedgerCommand<?> command, @Nullable Attachment<?> attachment, boolean queued) {
  static final Ask SWEEP = new Ask(null, null, true);

  static Ask queued(LedgerCommand<?> command, @Nullable Attachment<?> attachment) {
    return new Ask(command, attachment, true);
  }

  static Ask onConnection(LedgerCommand<?> command) {
    return new Ask(command, null, false);
  }

  /** Whether memory may decide it: queued, and without a companion. */
  boolean isPlain() {
    return command != null && attachment == null && queued;
  }

  record Attachment<P>(TransferCompanion<P> companion, P payload) {}
}
