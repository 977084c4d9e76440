/**
 * Trades of portfolios, published to Kafka in order by four relays, and a consumer that applies
 * each trade once. Start with {@link dev.lockstep.examples.trades.TradesToKafka}. Owns the tables
 * of schema {@code trades}, which it creates.
 */
@NullMarked
package dev.lockstep.examples.trades;

import org.jspecify.annotations.NullMarked;
