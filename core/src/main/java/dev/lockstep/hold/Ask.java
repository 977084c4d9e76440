package dev.lockstep.hold;

import org.jspecify.annotations.Nullable;

/**
 * What waits in the combiner: a command, perhaps with a companion's payload; or no command at all,
 * which just takes back what has expired.
 *
 * @param thorough what has expired must be taken back first, as it may change the answer
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
