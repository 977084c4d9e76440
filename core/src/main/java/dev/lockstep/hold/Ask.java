package dev.lockstep.hold;

import org.jspecify.annotations.Nullable;

/**
 * What waits in the combiner: a command, perhaps with a companion's payload; or a sweep, which has
 * no command and only takes back expired holds.
 *
 * @param thorough take back expired holds first, because they may change the answer
 * @param queued true if it waits in the queue; false if it runs on the caller's connection, where
 *     commands take effect in the order given
 */
record Ask(
    @Nullable HoldCommand<?> command,
    @Nullable Attachment<?> attachment,
    boolean thorough,
    boolean queued) {

  static final Ask SWEEP = new Ask(null, null, true, true);

  static Ask queued(HoldCommand<?> command, @Nullable Attachment<?> attachment) {
    return new Ask(command, attachment, false, true);
  }

  static Ask onConnection(HoldCommand<?> command, @Nullable Attachment<?> attachment) {
    return new Ask(command, attachment, true, false);
  }

  Ask thoroughly() {
    return new Ask(command, attachment, true, queued);
  }

  record Attachment<P>(Companion<P> companion, P payload) {}
}
