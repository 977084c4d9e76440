package dev.lockstep.examples.trades;

/**
 * What the consumer has seen.
 *
 * @param trades that had their effect, each once, each portfolio's in order and without a gap
 * @param repeated records that came again, and were dropped
 */
record Checked(long trades, long repeated, int portfolios) {}
