/**
 * Trades of portfolios, published to Kafka in order by four relays, and a consumer that applies
 * each trade once.
 *
 * <p>Start with {@link dev.lockstep.examples.trades.TradesToKafka}, then read {@code
 * OrderedConsumer}. Owns the tables of schema {@code trades}, which it creates; the consumer locks
 * a portfolio's inbox row before its position.
 */
@NullMarked
package dev.lockstep.examples.trades;

import org.jspecify.annotations.NullMarked;
