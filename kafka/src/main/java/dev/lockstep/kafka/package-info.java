/**
 * Kafka as a sink of the outbox.
 *
 * <p>Entry type: {@link dev.lockstep.kafka.KafkaSink}; register it with {@code
 * SinkTypes.standard().with(KafkaSink.TYPE, KafkaSink.on(config))}. Read {@code KafkaSession} next.
 * Owns no tables, takes no locks. Users' page: docs/kafka.md; reasons: docs/adr/020-kafka-sink.md.
 *
 * <p>Guarantee (G7 of docs/guarantees.md, at the broker): a relay that lost its lease publishes
 * nothing once its successor has begun. Each partition of the outbox has its own {@code
 * transactional.id}. A new owner raises the epoch at the broker, checks in the database that it
 * still holds the lease, and only then sends. The broker aborts the former owner's open transaction
 * and refuses its later ones.
 *
 * <p>Consumers must read committed records only ({@code isolation.level=read_committed}).
 */
@NullMarked
package dev.lockstep.kafka;

import org.jspecify.annotations.NullMarked;
