/**
 * A Kafka broker to start from Java: one node in KRaft mode, in its own process on the loopback
 * address, with its data in a temporary folder.
 *
 * <p>Entry type: {@link dev.lockstep.broker.KafkaBroker}; read it first, it is nearly all. {@code
 * BrokerProcess} is the main class of the process it starts. A broker runs, or is killed and may be
 * restarted with its data, until it is closed and its data deleted.
 *
 * <p>For tests, examples and benchmarks. It does not replace an operated cluster: there is one
 * replica of everything. Owns no tables and takes no locks.
 */
@NullMarked
package dev.lockstep.broker;

import org.jspecify.annotations.NullMarked;
