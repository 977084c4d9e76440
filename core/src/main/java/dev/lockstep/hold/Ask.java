package dev.lockstep.hold;

import org.jspecify.annotations.Nullable;

/**
 * What waits in the combiner: a command, perhaps with a companion's payload; or a sweep, which has
 * no command and only takes back expired holds.
 *
 * @param thorough take back expired holds first, because they may change the answer
 */
record Ask(@Nullable HoldCommand<?> command, @Nullable Attachment<?> attachment, boolean thorough) {

  static final Ask SWEEP = new Ask(null, null, true);

  static Ask of(HoldCommand<?> command, @Nullable Attachment<?> attachment) {
    return new Ask(command, attachment, false);
  }

  Ask thoroughly() {
    return new Ask(command, attachment, true);
  }

  record Attachment<P>(Companion<P> companion, P payload) {}
}
