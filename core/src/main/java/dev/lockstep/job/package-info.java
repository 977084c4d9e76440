/**
 * Jobs: work that is enqueued in a transaction and run later.
 *
 * <p>Entry type: {@link dev.lockstep.job.Jobs}. It makes {@link dev.lockstep.job.Worker} (runs jobs
 * on this node), {@link dev.lockstep.job.Claims} (hands jobs to other programs) and {@link
 * dev.lockstep.job.Schedules} (recurring jobs). Start reading there, then {@code WorkerMemory} for
 * the worker's memory and {@code ResultBatch} for its writes. Users' page: docs/jobs.md; reasons:
 * docs/adr/013-jobs.md, 014 (recurrence), 022 (claims).
 *
 * <p>Tables owned: {@code job}, {@code job_away}, {@code job_unique}, {@code job_attempt}, {@code
 * job_dead}, {@code job_queue}, {@code job_history}, {@code job_schedule}, {@code job_claim},
 * {@code job_claim_queue}, {@code job_worker_queue}.
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
 * <p>Locks: the job's row comes last in the order of CONTRIBUTING.md. Within the block: a queue's
 * claim row, then claims, then jobs; a schedule's row before its tick's; shards in ascending order.
 */
@NullMarked
package dev.lockstep.job;

import org.jspecify.annotations.NullMarked;
