/**
 * Trades of portfolios, published to Kafka in order by four relays, and a consumer that lets each
 * trade have its effect once. Owns the tables of schema {@code trades}, which it makes.
 */
@NullMarked
package dev.lockstep.examples.trades;

import org.jspecify.annotations.NullMarked;
