package dev.lockstep.examples.trades;

/**
 * What the consumer has seen.
 *
 * @param trades applied, each once, per portfolio in order and without a gap
 * @param repeated records that arrived again and were dropped
 */
record Checked(long trades, long repeated, int portfolios) {}
