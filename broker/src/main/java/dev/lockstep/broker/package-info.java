/**
 * A Kafka broker as a library: one node in KRaft mode, in its own process on the loopback address,
 * with its data in a temporary folder.
 *
 * <p>Entry type: {@link dev.lockstep.broker.KafkaBroker}. For tests, examples and benchmarks; it
 * does not replace an operated cluster, since there is one replica of everything. Owns no tables.
 */
@NullMarked
package dev.lockstep.broker;

import org.jspecify.annotations.NullMarked;
