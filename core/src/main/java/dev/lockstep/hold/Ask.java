package dev.lockstep.hold;

import org.jspecify.annotations.Nullable;

/**
 * What waits in the combiner: a command, perhaps with a companion's payload; or no command at all,
 * which just takes back what has expired.
 */
record Ask(@Nullable HoldCommand<?> command, @Nullable Attachment<?> attachment) {

  static final Ask SWEEP = new Ask(null, null);

  record Attachment<P>(Companion<P> companion, P payload) {}
}
