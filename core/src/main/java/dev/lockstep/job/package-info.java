/**
 * Jobs: work that is enqueued in a transaction and run later.
 *
 * <p>Entry type: {@link dev.lockstep.job.Jobs}. It makes {@link dev.lockstep.job.Worker} (runs jobs
 * on this node), {@link dev.lockstep.job.Claims} (hands jobs to other programs) and {@link
 * dev.lockstep.job.Schedules} (recurring jobs). User guide: docs/jobs.md; terms: docs/concepts.md;
 * reasons: docs/adr/013-jobs.md, 014 (recurrence), 022 (claims).
 *
 * <p>Where to read first:
 *
 * <ol>
 *   <li>{@code TaskState}: the life of a job in a worker's memory. {@code WorkerMemory} has the
 *       rest of that memory; {@code JobStream} and {@code Lanes} decide what is read next.
 *   <li>{@code Worker}: the threads. One reads, some run handlers, two write results.
 *   <li>{@code Completer} → {@code ResultWriter} → {@code ResultTransactions} → {@code
 *       ResultBatch}: a result's path to the table. {@code ResultFence} says when it is accepted.
 *   <li>{@code ShardRecovery} and {@code StragglerWatch}: what a new owner of a shard finds.
 *   <li>{@code ClaimTable}, {@code ClaimableJobs}, {@code ClaimResults}: claims.
 *   <li>{@code Enqueuer}, {@code JobChanges}, {@code DeadLetters}: writes of users.
 * </ol>
 *
 * <pre>
 *   table ──reader──→ WorkerMemory ──runner──→ handler ──→ Completer ──→ table
 *   (JobReads)        (Task)                   (Outcome)   (JobResult)   (ResultBatch)
 * </pre>
 *
 * <p>Tables owned:
 *
 * <ul>
 *   <li>{@code job}: live jobs; {@code job_dead}: dead letters; {@code job_history}, with its days,
 *       and {@code job_history_rest}: done jobs
 *   <li>{@code job_attempt}: failed attempts; {@code job_unique}: unique keys
 *   <li>{@code job_queue}: pause and rate of a queue; {@code job_schedule}: schedules
 *   <li>{@code job_claim}: claims; {@code job_claim_queue}: one row per queue that is claimed from,
 *       for locking; {@code job_worker_queue}: queues that workers serve, where nothing is claimed
 *   <li>{@code job_away}: stragglers of lanes
 * </ul>
 *
 * <p>States of a job in the tables ({@link dev.lockstep.job.JobState}; docs/concepts.md has every
 * move):
 *
 * <pre>
 *   SCHEDULED ──due──→ READY ──→ RUNNING ──Done──→ DONE (kept if history is on)
 *       ↑                ↑          │
 *       │                replay     ├── Dead, last attempt, too many crashes ──→ DEAD
 *       └──── Retry, Snooze ────────┘
 * </pre>
 *
 * <p>Guarantee (G6, docs/guarantees.md): a due job runs under one live lease. The owner of a shard
 * ({@code dev.lockstep.shard}) reads its due jobs without writing, and runs them. Results are
 * fenced by the shard's epoch, so a worker that lost its lease has its results refused. A due job
 * is never lost: it leaves the table only with its result, or when it is cancelled.
 *
 * <p>A job may <em>begin</em> more than once: when its worker dies, stops for longer than its
 * lease, or the job is changed while it runs. Effects written in the transaction that completes it
 * ({@link dev.lockstep.job.Outcome.Done#writing}) happen exactly once.
 *
 * <p>Locks: jobs, the last rows in {@link dev.lockstep.sql.LockOrder}. Within the block: a queue's
 * claim row, then claims, then jobs; a schedule's row before its tick's; shards in ascending order.
 */
@NullMarked
package dev.lockstep.job;

import org.jspecify.annotations.NullMarked;
