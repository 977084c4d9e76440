/**
 * A Kafka broker as a library: one node in KRaft mode, in a process of its own, on the loopback
 * address, with its data in a folder that goes when it does.
 *
 * <p>{@link dev.lockstep.broker.KafkaBroker} is the entry. For tests, examples and benchmarks; it
 * is no replacement for an operated cluster: there is one replica of everything.
 */
@NullMarked
package dev.lockstep.broker;

import org.jspecify.annotations.NullMarked;
