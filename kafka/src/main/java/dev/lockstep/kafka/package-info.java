/**
 * Kafka as a sink of the outbox. Owns no tables; {@link dev.lockstep.kafka.KafkaSink} is the entry.
 *
 * <p>Guarantee (G7 of docs/guarantees.md, at the broker): a relay that lost its lease publishes
 * nothing once its successor has begun. Each partition of the outbox has a {@code transactional.id}
 * of its own; its new owner raises the epoch at the broker, asks the database again whether the
 * lease is its own, and only then sends. What the former owner has under way is aborted, what it
 * sends later is refused.
 *
 * <p>Consumers have to read committed records only ({@code isolation.level=read_committed}).
 */
@NullMarked
package dev.lockstep.kafka;

import org.jspecify.annotations.NullMarked;
