/**
 * Kafka as a sink of the outbox: each batch of a partition is one Kafka transaction.
 *
 * <p>Entry type: {@link dev.lockstep.kafka.KafkaSink}; register it with {@code
 * SinkTypes.standard().with(KafkaSink.TYPE, KafkaSink.on(config))}. Read {@code KafkaSession} next:
 * it sends a batch and finds the record that Kafka refuses. {@code KafkaFault} tells such a record
 * from a broker that is down, {@code Records} turns events into records.
 *
 * <p>Owns no tables and takes no locks. A session begins with {@code initTransactions}, which
 * fences the former owner, and has one transaction at a time: committed, or aborted with nothing
 * visible. Users' page: docs/kafka.md. Reasons: docs/adr/020-kafka-sink.md.
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
