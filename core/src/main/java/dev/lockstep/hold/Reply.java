package dev.lockstep.hold;

import org.jspecify.annotations.Nullable;

/**
 * The answer to an {@link Ask}.
 *
 * @param outcome null for a sweep
 * @param again the ask must be decided again: more has expired than one batch could take back
 * @param swept expired holds taken back by the batch
 */
record Reply(@Nullable HoldOutcome outcome, boolean again, int swept) {}
