package dev.lockstep.ledger;

import org.jspecify.annotations.Nullable;

/**
 * What waits in the combiner: a command, perhaps with a companion's payload; or no command at all,
 * which just ends what has expired.
 *
 * @param queued it waits in the queue, and not on a connection of the caller's, of whose COMMIT
 *     nobody hears
 */
record Ask(@Nullable LedgerCommand<?> command, @Nullable Attachment<?> attachment, boolean queued) {
  static final Ask SWEEP = new Ask(null, null, true);

  static Ask queued(LedgerCommand<?> command, @Nullable Attachment<?> attachment) {
    return new Ask(command, attachment, true);
  }

  static Ask onConnection(LedgerCommand<?> command) {
    return new Ask(command, null, false);
  }

  /** Whether it may be decided on what is remembered: nobody else writes along. */
  boolean isPlain() {
    return command != null && attachment == null && queued;
  }

  record Attachment<P>(TransferCompanion<P> companion, P payload) {}
}
