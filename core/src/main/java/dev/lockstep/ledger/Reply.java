package dev.lockstep.ledger;

import org.jspecify.annotations.Nullable;

/**
 * The answer to an {@link Ask}.
 *
 * @param outcome null for a sweep
 * @param swept expired transfers ended by the batch; of several sweeps only one counts them
 */
record Reply(@Nullable LedgerOutcome outcome, int swept) {}
